import { StrataError } from '../../domain/errors.ts';
import { makeKey, parseKey } from '../../domain/key.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { CommandReply } from '../../ports/reply.ts';
import type { Conversation } from '../../ports/store.ts';
import type { RequestBlock } from '../../requests/blocks.ts';
import type { BlockChange } from '../../requests/diff.ts';
import type { ExplainedReply } from '../../requests/explain.ts';
import { goneText } from '../../requests/gone.ts';
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
import { makeReply, TEXT_PAGE, takePage } from '../reply.ts';
import { action, pageOption, textOption } from '../spec.ts';

const message = textOption('message', 'Number of the reply or of the message it answers; the newest reply if left out');

export const why: Command = {
  spec: {
    name: 'why',
    description: 'What the bot saw before it wrote a reply',
    actions: [
      action('show', 'Every part of the request with its tokens, source and reason', {
        options: [message, pageOption],
      }),
      action('changes', 'How the request differs from the one before it', { options: [message, pageOption] }),
      action('detail', 'The text of one part', {
        options: [textOption('part', 'Key of the part, as shown by why show', { required: true }), message, pageOption],
      }),
    ],
    otherwise: 'show',
  },
  run: { show, changes, detail },
};

async function show(call: Call): Promise<CommandReply> {
  const explained = await explain(call);
  if (explained === null) return nothingAnswered(call);
  const { exactnessText } = await import('../../requests/explain.ts');
  const { items, page } = takePage(groupMessages(explained.blocks), pageOf(call), { command: sameCommand(call) });
  // The platform's id also finds the reply in a thread.
  const of = { message: optionOf(call, 'message') ?? String(explained.seq) };
  return makeReply(`Why #${explained.seq}`, {
    text: exactnessText(explained),
    fields: fieldsOf(explained),
    rows: { columns: ['PART', 'TOKENS', 'SOURCE', 'REASON'], cells: items.map(blockRow) },
    page,
    actions: [
      { label: 'What changed since the previous reply', command: commandTo('why changes', of), style: 'plain' },
      {
        label: 'Text of the newest part',
        command: commandTo('why detail', { part: lastKey(explained), ...of }),
        style: 'plain',
      },
    ],
  });
}

function lastKey({ blocks }: ExplainedReply): string {
  return blocks.findLast(({ kind }) => kind === 'message')?.key ?? blocks.at(-1)?.key ?? '';
}

async function changes(call: Call): Promise<CommandReply> {
  const explained = await explain(call);
  if (explained === null) return nothingAnswered(call);
  const title = `Why #${explained.seq}: changes`;
  if (explained.previousSeq === null) return makeReply(title, { text: 'There is no earlier request to compare with.' });
  const before = await explainPrevious(call, explained);
  const { diffRequests } = await import('../../requests/diff.ts');
  const { changes: found, keptBlocks } = diffRequests(before?.blocks ?? [], explained.blocks);
  const { items, page } = takePage(found, pageOf(call), { command: sameCommand(call) });
  return makeReply(title, {
    text: `Compared with the request for #${explained.previousSeq}: ${counted(found.length, 'change', 'changes')}, ${counted(keptBlocks, 'part', 'parts')} unchanged.`,
    rows: { columns: ['CHANGE', 'PART', 'TOKENS', 'TEXT'], cells: items.map(changeRow) },
    page,
  });
}

async function detail(call: Call): Promise<CommandReply> {
  const explained = await explain(call);
  if (explained === null) return nothingAnswered(call);
  const key = requiredOption(call, 'part');
  const block = explained.blocks.find((candidate) => candidate.key === key);
  if (block === undefined) throw new StrataError('NOT_FOUND', { what: 'part of the request', id: key.slice(0, 40) });
  const pages = paginate(block.text === '' ? '(no text)' : block.text, TEXT_PAGE);
  const { items, page } = takePage(pages, pageOf(call), { command: sameCommand(call), size: 1 });
  const [, tokens = '', source = '', reason = ''] = blockRow(block);
  return makeReply(`Why #${explained.seq}: ${key}`, {
    text: items.join(''),
    fields: [
      { name: 'Tokens', value: tokens },
      { name: 'Source', value: source },
      { name: 'Reason', value: reason },
    ],
    page,
  });
}

function nothingAnswered({ conversation }: Call): CommandReply {
  return conversation === null
    ? nothingYet('Why')
    : makeReply('Why', { text: 'The bot has answered nothing here yet.' });
}

export function fieldsOf({ turn, at, agentId, modelId, tokens, windowTokens }: ExplainedReply) {
  return [
    { name: 'Answered', value: `#${turn}, ${formatTime(at)}` },
    { name: 'Model', value: `${modelId} (agent ${agentId})` },
    { name: 'Size', value: `~${formatNumber(tokens)} of ${formatNumber(windowTokens)} tokens` },
  ];
}

export function blockRow({ key, tokens, source, reason, gone }: RequestBlock): readonly string[] {
  return [key, `~${formatNumber(tokens)}`, source, gone === null ? reason : `${reason} ${goneText(gone)}`];
}

export function changeRow({ change, block, before }: BlockChange): readonly string[] {
  const tokens = before === null || change === 'removed' ? block.tokens : block.tokens - before.tokens;
  const sign = change === 'removed' ? '-' : tokens < 0 ? '' : '+';
  return [change, block.key, `${sign}${formatNumber(tokens)}`, excerpt(block.text, 120)];
}

/** Runs of messages as one row, so that what differs from turn to turn stands out. */
export function groupMessages(blocks: readonly RequestBlock[]): readonly RequestBlock[] {
  const rows: RequestBlock[] = [];
  for (const block of blocks) {
    const last = rows.at(-1);
    const joins = last?.kind === 'message' && block.kind === 'message' && last.reason === block.reason;
    if (!joins || last.gone !== null || block.gone !== null) {
      rows.push(block);
      continue;
    }
    const [first = ''] = last.key.split('–', 1);
    const key = `${first}–${block.key}`;
    rows[rows.length - 1] = { ...last, key, source: `transcript ${key}`, tokens: last.tokens + block.tokens };
  }
  return rows;
}

/** Null if nothing was answered here yet. */
async function explain(call: Call): Promise<ExplainedReply | null> {
  const named = optionOf(call, 'message');
  if (named !== null) return await explainAt(call, await replyNamed(call, named));
  const { conversation, services } = call;
  if (conversation === null) return null;
  const { newestReply } = await import('../../requests/explain.ts');
  const seq = await newestReply(services, { conversation, toSeq: conversation.nextSeq });
  return seq === null ? null : await explainAt(call, { conversation, seq });
}

interface Located {
  readonly conversation: Conversation;
  readonly seq: number;
}

async function explainAt({ services, reader }: Call, located: Located): Promise<ExplainedReply> {
  const { explainReply } = await import('../../requests/explain.ts');
  return await explainReply(services, { ...located, reader });
}

/** The reply before, in the conversation of the explained one. */
async function explainPrevious(call: Call, { conversation: key, previousSeq: seq }: ExplainedReply) {
  const conversation = seq === null ? null : await call.services.store.conversations.find(key);
  return seq === null || conversation === null ? null : await explainAt(call, { conversation, seq });
}

/** A number as in `#12`, or the platform's id of a message. */
async function replyNamed(
  { services: { store }, conversation: here, invocation }: Call,
  named: string,
): Promise<Located> {
  if (/^#?\d{1,9}$/.test(named) && here !== null) return { conversation: here, seq: Number(named.replace('#', '')) };
  for (const key of conversationsWith(invocation.conversation, named)) {
    const conversation = await store.conversations.find(key);
    const entry = conversation && (await store.transcript.byExternalId(conversation.id, named));
    if (entry) return { conversation, seq: entry.seq };
  }
  throw new StrataError('NOT_FOUND', { what: 'record of a reply', id: named.slice(0, 40) });
}

/**
 * Where to look for a message named here: a message that starts a thread is shown in the channel and in the thread.
 * Everybody who can read the channel can read these; a private thread is only searched from inside.
 */
function conversationsWith(here: ConversationKey, externalId: string): readonly ConversationKey[] {
  const { isClosed, ...place } = parseKey(here);
  if (isClosed || !PLATFORM_ID.test(externalId)) return [here];
  const threads = [externalId, null].map((thread) => makeKey({ ...place, thread }));
  return [...new Set([here, ...threads])];
}

const PLATFORM_ID = /^[\w.-]{1,64}$/;
