import { isAbsolute, relative } from 'node:path';
import type { App, OpenOptions } from '../../app/app.ts';
import type { Operations } from '../../bot/adapters.ts';
import { modelsOf } from '../../config/directory.ts';
import { StrataError } from '../../domain/errors.ts';
import { parseKey, TERMINAL_HOME } from '../../domain/key.ts';
import type { ConversationKey } from '../../domain/message.ts';
import { counted, formatTime } from '../../util/text/text.ts';
import { wrap } from '../../util/text/wrap.ts';
import { type Cli, type TextOutput, widthOf } from '../cli.ts';

/**
 * When a person leaves the terminal, the last memories are extracted within this time; the next start does the rest.
 */
const LEAVE_DEADLINE_MS = 4_000;
const STOP_DEADLINE_MS = 15_000;

interface TerminalOptions {
  readonly conversation?: ConversationKey;
  readonly user?: string;
}

/** Whom the terminal shows, and which conversation. Throws `USAGE` for one of another platform. */
export function terminalOf(cli: Cli, { conversation, user }: TerminalOptions): OpenOptions['terminal'] {
  if (conversation !== undefined && parseKey(conversation).platform !== 'terminal') {
    const problem = `${conversation} is not a terminal conversation. Expected terminal:workspace:channel, for example terminal:local:work.`;
    throw new StrataError('USAGE', { problem });
  }
  const { USER, USERNAME } = cli.environment;
  return { conversation: conversation ?? null, user: user ?? USER ?? USERNAME ?? 'user' };
}

/** Runs until the terminal's input ends or the process receives a signal, then finishes owed replies. */
export async function serve(cli: Cli, options: Omit<OpenOptions, 'listenOnly' | 'create'>): Promise<void> {
  const app = await cli.open({ ...options, listenOnly: false, create: true });
  cli.onUncaught((failure) => app.reportUncaught(failure));
  const failed = countFailures(app);
  if (!app.platforms.includes('terminal')) {
    app.notices.listen(({ kind, text }) => kind === 'trouble' && cli.stderr.write(`${text}\n`));
  }
  // Piped input alone is processed and gone before anybody could look. A service without a terminal stays.
  const isPiped = cli.stdin.isTTY !== true && app.platforms.length === 1 && app.platforms.includes('terminal');
  let operations: Operations | null = null;
  let inspector: Operations | null = null;
  let end: Awaited<App['ended']> | null = null;
  try {
    await announce(cli, app, options);
    operations = await app.operate();
    if (operations !== null) cli.stderr.write(`State: ${operations.url}/metrics\n`);
    if (!isPiped) inspector = await app.inspect();
    if (inspector !== null) cli.stderr.write(`Inspector: ${inspector.url}\n`);
    // An unreachable platform must not prevent the process from exiting.
    await Promise.race([app.start(), stopped(cli.signal)]);
    end = await Promise.race([stopped(cli.signal), app.ended]);
  } finally {
    await app.close({ deadlineMs: app.platforms.includes('terminal') ? LEAVE_DEADLINE_MS : STOP_DEADLINE_MS });
    await operations?.close();
    await inspector?.close();
  }
  // The failure of the last reply is reported after its apology was posted.
  if (end !== null && end.failures + (isPiped ? failed.count : 0) > 0) cli.exit(1);
}

/** Number of failed replies, for the exit code of piped runs. In a terminal the person has seen the apology. */
function countFailures({ bot }: App): { readonly count: number } {
  const failed = { count: 0 };
  bot.events.on(({ kind }) => {
    if (kind === 'turn.failed' || kind === 'reply.failed') failed.count += 1;
  });
  return failed;
}

/**
 * Prints the model and why it was chosen, where the data is, and whether the conversation continues. One line in a
 * terminal.
 */
async function announce(cli: Cli, app: App, { role, terminal }: Pick<OpenOptions, 'role' | 'terminal'>): Promise<void> {
  const { services, platforms } = app;
  const choices: ModelChoice[] = [];
  for (const agent of services.agents.list()) {
    for (const [index, modelId] of modelsOf(agent).entries()) {
      const reason = index === 0 ? 'configured' : 'fallback';
      const choice = modelId === 'auto' ? await services.models.choose() : { modelId, reason };
      await services.models.open(choice.modelId);
      choices.push(choice);
    }
  }
  if (role !== 'worker' && platforms.includes('terminal')) return await greet(cli, app, { choices, terminal });
  for (const { modelId, reason } of choices) cli.stderr.write(`Model: ${modelId} – ${reason}\n`);
  cli.stderr.write(`Data:  ${services.dataLocation}\n`);
  if (role === 'worker') cli.stderr.write('Working on summaries and memories. Ctrl-C stops.\n');
  else cli.stderr.write(`Serving ${platforms.join(', ')}. Ctrl-C stops.\n`);
}

type ModelChoice = Awaited<ReturnType<App['services']['models']['choose']>>;

async function greet(
  cli: Cli,
  { services }: App,
  { choices, terminal }: { readonly choices: readonly ModelChoice[]; readonly terminal: OpenOptions['terminal'] },
): Promise<void> {
  // The doctor shows the full reason.
  const models = choices.map(({ modelId, reason }) => `${modelId} (${reason.split(/,|;| and /)[0]})`);
  const place = isAbsolute(services.dataLocation) ? relative('', services.dataLocation) || '.' : services.dataLocation;
  writeWrapped(cli.stderr, [[...new Set(models)].join(', '), place, '/help, /demo, /quit'].join(' · '));
  const talk = await services.store.conversations.find(terminal?.conversation ?? TERMINAL_HOME);
  if (talk === null || talk.nextSeq === 1) return;
  const messages = counted(talk.nextSeq - 1, 'message', 'messages');
  const since = formatTime(talk.lastActivityAt);
  writeWrapped(cli.stderr, `The conversation continues after ${messages}, the last of ${since}.`);
}

/** Breaks lines between words in a terminal. */
function writeWrapped(output: TextOutput, text: string): void {
  output.write(`${wrap(text, widthOf({ stdout: output }))}\n`);
}

/** Resolves when the process should stop. */
export function stopped(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
