import type { App } from '../../app/app.ts';
import type { ContextPreview } from '../../context/preview.ts';
import { describe, StrataError } from '../../domain/errors.ts';
import type { Conversation } from '../../ports/store.ts';
import { openInput } from '../../util/files/open-input.ts';
import { formatTable } from '../../util/text/table.ts';
import { cleanText, counted, formatNumber, formatPercent } from '../../util/text/text.ts';
import { type Cli, widthOf, writeJson } from '../cli.ts';
import { questionsIn } from '../input-lines.ts';

/** `strata context --ask` and `--ask-file`. */
interface AskOptions {
  readonly ask?: string;
  readonly askFile?: string;
}

export const asksAnything = ({ ask, askFile }: AskOptions): boolean => ask !== undefined || askFile !== undefined;

/** Questions require a conversation. Throws `USAGE`. */
export function refuseQuestions(options: AskOptions): void {
  if (!asksAnything(options)) return;
  throw new StrataError('USAGE', { problem: '--ask and --ask-file need --conversation.' });
}

export async function askAll(
  cli: Cli,
  app: App,
  {
    conversation,
    json = false,
    ...options
  }: AskOptions & { readonly conversation: Conversation; readonly json?: boolean },
): Promise<void> {
  for await (const question of questionsOf(cli, options)) {
    if (cli.signal.aborted) return;
    const preview = await app.services.preview(conversation, question);
    if (json) writeJson(cli, toJson(question, preview));
    else print(cli, question, preview);
  }
}

async function* questionsOf(cli: Cli, { ask, askFile }: AskOptions): AsyncGenerator<string> {
  if (ask !== undefined) yield ask;
  if (askFile === undefined) return;
  try {
    yield* questionsIn(askFile === '-' ? cli.stdin : openInput(askFile), cli.signal);
  } catch (error) {
    if (error instanceof StrataError) throw error;
    throw new StrataError('USAGE', { problem: `${askFile} could not be read: ${describe(error)}` });
  }
}

function toJson(question: string, { used, window, messages, parts }: ContextPreview) {
  return { question, used, window, messages, parts: parts.map(({ text: _text, ...part }) => part) };
}

function print(cli: Cli, question: string, { used, window, messages, parts }: ContextPreview): void {
  const share = formatPercent(used / window);
  const cells = parts
    .filter(({ included }) => included)
    .map(({ key, tokens, reason }) => [key, formatNumber(tokens), reason]);
  const passages =
    parts.find(({ key, included }) => key === 'passages' && included)?.text ?? 'No earlier message is quoted.';
  cli.stdout.write(
    `${cleanText(question)}\n~${formatNumber(used)} of ${formatNumber(window)} tokens (${share}), ${counted(messages.length, 'message', 'messages')} word for word\n\n` +
      `${formatTable(['PART', 'TOKENS', 'REASON'], cells, widthOf(cli))}\n\n${cleanText(passages)}\n\n`,
  );
}
