import { StrataError } from '../../domain/errors.ts';
import type { SummaryId } from '../../domain/message.ts';
import type { CommandReply, ReplyAction, ReplyField } from '../../ports/reply.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Summary } from '../../ports/summary-store.ts';
import { counted, excerpt, formatNumber, formatTime, paginate } from '../../util/text/text.ts';
import {
  type Call,
  type Command,
  commandTo,
  nothingYet,
  optionOf,
  pageOf,
  requiredOption,
  sameCommand,
} from '../command.ts';
import { shownAuthor, shownText } from '../format-entry.ts';
import { makeReply, PAGE_SIZE, TEXT_PAGE, takePage } from '../reply.ts';
import { action, choiceOption, pageOption, textOption } from '../spec.ts';

const id = textOption('id', 'Id of the summary, as shown by summaries list', { required: true, suggests: true });

const what = choiceOption('what', 'lost: the names, numbers, links, dates and promises that it leaves out', ['lost']);

export const summaries: Command = {
  spec: {
    name: 'summaries',
    description: 'Summaries of earlier messages',
    actions: [
      action('list', 'List the summaries the bot sees, oldest first', { options: [pageOption] }),
      action('show', 'Show the full text of a summary', { options: [id, pageOption] }),
      action('open', 'Show what a summary was made from, or which details of it were lost', {
        options: [id, what, pageOption],
      }),
      action('rewrite', 'Rewrite a summary from its sources', {
        options: [id, textOption('wish', 'What it should emphasise', { rest: true })],
        access: 'moderator',
      }),
    ],
    otherwise: 'list',
  },
  run: { list, show, open, rewrite },
  suggest: { id: suggestIds },
};

async function list(call: Call): Promise<CommandReply> {
  const { services, conversation } = call;
  if (conversation === null) return nothingYet('Summaries');
  const stack = await services.store.summaries.live(conversation.id);
  if (stack.length === 0) {
    return makeReply('Summaries', { text: 'There are no summaries yet: the bot sees every message.' });
  }
  const { items, page } = takePage(stack, pageOf(call), { command: sameCommand(call) });
  return makeReply('Summaries', {
    text: `${stack.length} in the stack, oldest first. The messages from #${conversation.compactedUpto + 1} on are seen in full.`,
    rows: { columns: COLUMNS, cells: items.map(rowOf) },
    page,
    actions: items.slice(0, 1).flatMap(actionsOf),
  });
}

async function show(call: Call): Promise<CommandReply> {
  const summary = await findSummary(call);
  const pages = paginate(summary.kind === 'gap' ? gapText(summary) : summary.text, TEXT_PAGE);
  const { items, page } = takePage(pages, pageOf(call), { command: sameCommand(call), size: 1 });
  return makeReply(`Summary ${summary.id}`, {
    text: items.join(''),
    fields: [
      { name: 'Covers', value: rangeOf(summary) },
      { name: 'Level', value: String(summary.level) },
      { name: 'Tokens', value: `~${formatNumber(summary.tokens)}` },
      {
        name: 'Made',
        value: `${formatTime(summary.createdAt)}${summary.model === null ? '' : ` by ${summary.model}`}`,
      },
      ...(summary.promptHash === null ? [] : [{ name: 'Prompt', value: summary.promptHash }]),
      ...(await successorOf(call, summary)),
    ],
    page,
    actions: [openAction(summary), lostAction(summary)],
  });
}

async function successorOf({ services }: Call, { supersededBy, level }: Summary): Promise<readonly ReplyField[]> {
  if (supersededBy === null) return [];
  const next = await services.store.summaries.find(supersededBy);
  return [{ name: next?.level === level ? 'Rewritten as' : 'Condensed into', value: supersededBy }];
}

async function open(call: Call): Promise<CommandReply> {
  const summary = await findSummary(call);
  if (optionOf(call, 'what') === 'lost') return await (await import('./summary-losses.ts')).showLost(call, summary);
  const children = summary.level === 0 ? [] : await call.services.store.summaries.children(summary.id);
  if (children.length === 0) return await openEntries(call, summary);
  const { items, page } = takePage(children, pageOf(call), { command: sameCommand(call) });
  return makeReply(`Summary ${summary.id} was made from`, {
    rows: { columns: COLUMNS, cells: items.map(rowOf) },
    page,
    actions: items.map(openAction),
  });
}

/** The messages themselves, read page by page. */
async function openEntries(call: Call, summary: Summary): Promise<CommandReply> {
  const seqs = Array.from({ length: summary.toSeq - summary.fromSeq + 1 }, (_, index) => summary.fromSeq + index);
  const { items, page } = takePage(seqs, pageOf(call), { command: sameCommand(call) });
  const range = { fromSeq: items[0] ?? summary.fromSeq, toSeq: items.at(-1) ?? summary.toSeq, limit: PAGE_SIZE };
  const entries = await call.services.store.transcript.read(summary.conversationId, range);
  return makeReply(`Messages ${rangeOf(summary)}`, {
    rows: {
      columns: ['#', 'WHEN', 'WHO', 'WHAT'],
      cells: entries.map((entry) => [
        `#${entry.seq}`,
        formatTime(entry.at),
        shownAuthor(entry),
        excerpt(shownText(entry), 200),
      ]),
    },
    page,
  });
}

/** A worker writes it, perhaps in another process, so the answer doesn't wait. */
async function rewrite(call: Call): Promise<CommandReply> {
  const { services, conversation } = call;
  const summary = await findSummary(call);
  if (conversation === null) return nothingYet('Summaries');
  await services.rewrite(conversation, summary, optionOf(call, 'wish') ?? '');
  return makeReply('Summaries', {
    text: `The summary of ${rangeOf(summary)} will be rewritten in the background. Until then it stays as it is.`,
    tone: 'success',
    actions: [{ label: 'Read the summaries', command: commandTo('summaries list'), style: 'plain' }],
  });
}

const COLUMNS = ['ID', 'LEVEL', 'COVERS', 'TOKENS', 'TEXT'] as const;

function rowOf(summary: Summary): readonly string[] {
  const text =
    summary.kind === 'gap'
      ? gapText(summary)
      : `${summary.stale ? '(outdated; it will be rewritten) ' : ''}${summary.text}`;
  return [summary.id, String(summary.level), rangeOf(summary), `~${formatNumber(summary.tokens)}`, excerpt(text, 80)];
}

function rangeOf({ fromSeq, toSeq }: Pick<Summary, 'fromSeq' | 'toSeq'>): string {
  return `#${fromSeq}–#${toSeq}`;
}

function gapText(gap: Summary): string {
  const removed = counted(gap.toSeq - gap.fromSeq + 1, 'message was', 'messages were');
  return `(gap: ${removed} removed from the view; a summary will follow)`;
}

function actionsOf(summary: Summary): readonly ReplyAction[] {
  const show: ReplyAction = {
    label: 'Whole text',
    command: commandTo('summaries show', { id: summary.id }),
    style: 'plain',
  };
  return [show, openAction(summary)];
}

function openAction(summary: Summary): ReplyAction {
  return {
    label: `What ${rangeOf(summary)} was made from`,
    command: commandTo('summaries open', { id: summary.id }),
    style: 'plain',
  };
}

function lostAction({ id: summaryId }: Summary): ReplyAction {
  return {
    label: 'What it leaves out',
    command: commandTo('summaries open', { id: summaryId, what: 'lost' }),
    style: 'plain',
  };
}

/** Only summaries of this conversation can be opened. */
async function findSummary(call: Call): Promise<Summary> {
  const wanted = requiredOption(call, 'id');
  const { services, conversation } = call;
  const found = conversation && (await findByHead(services.store.summaries, conversation, wanted));
  if (!found) throw new StrataError('NOT_FOUND', { what: 'summary', id: wanted.slice(0, 40) });
  return found;
}

/** Finds a summary by its id, or by an unambiguous prefix of an id in the stack. */
async function findByHead(
  store: Call['services']['store']['summaries'],
  conversation: Conversation,
  wanted: string,
): Promise<Summary | null> {
  const exact = await store.find(wanted as SummaryId);
  if (exact !== null) return exact.conversationId === conversation.id ? exact : null;
  const fitting = (await store.live(conversation.id)).filter((summary) => summary.id.startsWith(wanted));
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

async function suggestIds({ services, conversation }: Call) {
  if (conversation === null) return [];
  const stack = await services.store.summaries.live(conversation.id);
  return stack.map((summary) => ({
    label: `${rangeOf(summary)} ${excerpt(summary.text || gapText(summary), 60)}`,
    value: summary.id,
  }));
}
