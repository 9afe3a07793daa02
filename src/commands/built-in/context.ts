import { historyOf, MAX_RUNS } from '../../context/history.ts';
import { StrataError } from '../../domain/errors.ts';
import type { ContextPart, Measurement, Thresholds } from '../../ports/engine.ts';
import type { CommandReply } from '../../ports/reply.ts';
import { didYouMean } from '../../util/text/did-you-mean.ts';
import { formatNumber, formatPercent, paginate } from '../../util/text/text.ts';
import { type Call, type Command, commandTo, nothingYet, pageOf, requiredOption, sameCommand } from '../command.ts';
import { makeReply, TEXT_PAGE, takePage } from '../reply.ts';
import { action, pageOption, textOption } from '../spec.ts';
import { historyFields, inspectorFields, sizeOf } from './context-fields.ts';

export const context: Command = {
  spec: {
    name: 'context',
    description: 'What the bot currently sees of this conversation, and the tokens of each part',
    actions: [
      action('list', 'Every part with its source, reason and tokens', { options: [pageOption] }),
      action('detail', 'The text of one part', {
        options: [
          textOption('key', 'Key of the part, as shown by context list', { required: true, suggests: true }),
          pageOption,
        ],
      }),
      action('picture', 'A picture of the window: what fills it, and how that changed'),
    ],
    otherwise: 'list',
  },
  run: { list, detail, picture },
  suggest: { key: suggestKeys },
};

async function list(call: Call): Promise<CommandReply> {
  const { conversation } = call;
  const inspection = await inspect(call);
  if (inspection === null || conversation === null) return nothingYet('Context');
  const { measurement, parts, thresholds, lastInputTokens, focus } = inspection;
  const runs = await call.services.store.journal.runs(conversation.id, MAX_RUNS);
  const { items, page } = takePage(parts, pageOf(call), { command: sameCommand(call) });
  return makeReply('Context', {
    text: usageLine(measurement),
    fields: [
      { name: 'Compacts', value: thresholdLine(measurement.window, thresholds) },
      ...(lastInputTokens === null
        ? []
        : [{ name: 'Provider counted', value: `${formatNumber(lastInputTokens)} tokens in the last request` }]),
      ...historyFields(focus, historyOf(inspection, runs)),
      ...inspectorFields(call),
    ],
    rows: { columns: ['PART', 'TOKENS', 'SOURCE', 'REASON'], cells: items.map((part) => rowOf(part, measurement)) },
    page,
    actions: [
      { label: 'The text of a part', command: commandTo('context detail', { key: 'tail' }), style: 'plain' },
      PICTURE,
    ],
  });
}

export const PICTURE = { label: 'Picture', command: commandTo('context picture'), style: 'plain' } as const;

async function picture({ services, conversation }: Call): Promise<CommandReply> {
  if (conversation === null || conversation.nextSeq === 1) return nothingYet('Context');
  const drawn = await services.picture(conversation);
  if (drawn === null)
    throw new StrataError('USAGE', {
      problem: 'There is no picture while the model cannot be used. The command status says why.',
    });
  return makeReply('Context', { text: drawn.description, picture: drawn });
}

async function detail(call: Call): Promise<CommandReply> {
  const inspection = await inspect(call);
  if (inspection === null) return nothingYet('Context');
  const key = requiredOption(call, 'key');
  const part = inspection.parts.find((candidate) => candidate.key === key);
  if (part === undefined) throw unknownPart(key, inspection.parts);
  const pages = paginate(part.text === '' ? '(no text)' : part.text, TEXT_PAGE);
  const { items, page } = takePage(pages, pageOf(call), { command: sameCommand(call), size: 1 });
  const [tokens, source, reason] = rowOf(part, inspection.measurement).slice(1);
  const size = sizeOf(part, inspection.measurement);
  return makeReply(`Context: ${part.key}`, {
    text: items.join(''),
    fields: [
      { name: 'Tokens', value: tokens ?? '' },
      { name: 'Before cuts', value: size.whole },
      { name: 'Budget', value: size.budget },
      { name: 'Priority', value: size.priority },
      { name: 'Source', value: source ?? '' },
      { name: 'Reason', value: reason ?? '' },
    ],
    page,
  });
}

function unknownPart(key: string, parts: readonly ContextPart[]): StrataError {
  const keys = parts.map((part) => part.key);
  const meant = didYouMean(key.slice(0, 40), keys);
  const hint = meant === null ? `There are ${keys.join(', ')}.` : `Did you mean ${meant}?`;
  return new StrataError('USAGE', { problem: `The context has no part "${key.slice(0, 40)}". ${hint}` });
}

function rowOf(part: ContextPart, measurement: Measurement): readonly string[] {
  const cut = part.truncated ? ', cut' : '';
  const state = part.included ? cut : ', left out';
  return [part.key, `${approximate(part.tokens, measurement)}${state}`, part.source, part.reason];
}

/** `[████████░░] ~1,650 of 2,000 tokens (82 %), tier background`. */
export function usageLine(measurement: Measurement): string {
  const { used, window, ratio, tier } = measurement;
  const filled = Math.max(0, Math.min(10, Math.round(ratio * 10)));
  const bar = `[${'█'.repeat(filled)}${'░'.repeat(10 - filled)}]`;
  return `${bar} ${approximate(used, measurement)} of ${formatNumber(window)} tokens (${formatPercent(floored(ratio))}), tier ${tier}`;
}

/** Rounded down: rounded up, a share just below a threshold would seem to have reached it. */
function floored(ratio: number): number {
  return Math.floor(ratio * 100 + 1e-9) / 100;
}

/** Estimated counts have a `~`. */
export function approximate(tokens: number, { estimated }: Pick<Measurement, 'estimated'>): string {
  return `${estimated ? '~' : ''}${formatNumber(tokens)}`;
}

/** Where each tier begins, in tokens and as a share of the window. */
export function thresholdLine(window: number, thresholds: Thresholds): string {
  const at = (share: number) => `${formatNumber(window * share)} (${formatPercent(share)})`;
  const { background, aggressive, emergency } = thresholds;
  return `background at ${at(background)}, aggressive at ${at(aggressive)}, emergency at ${at(emergency)}`;
}

async function inspect({ services, conversation }: Call) {
  return conversation === null ? null : await services.inspect(conversation);
}

async function suggestKeys(call: Call) {
  const inspection = await inspect(call);
  return (inspection?.parts ?? []).map((part) => ({ label: `${part.key}: ${part.reason}`, value: part.key }));
}
