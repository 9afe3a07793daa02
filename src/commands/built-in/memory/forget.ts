import { StrataError } from '../../../domain/errors.ts';
import { type Entry, textOf } from '../../../domain/message.ts';
import type { ForgetTarget, TokenedPreview } from '../../../memory/forget/forget-target.ts';
import type { Forgotten } from '../../../memory/service.ts';
import type { CommandReply, ReplyField } from '../../../ports/reply.ts';
import { counted, excerpt, formatTime } from '../../../util/text/text.ts';
import { type Call, commandTo, optionOf, requesterOf, requiredOption } from '../../command.ts';
import { shownName } from '../../format-entry.ts';
import { makeReply } from '../../reply.ts';
import { extractUnread } from '../unread.ts';
import { findMemory } from './find.ts';

const MAX_EXAMPLES = 8;
const EXAMPLE_LENGTH = 160;
const LIKE_AN_ID = /^[0-9]/;
const WHOLE_ID = /^[0-9a-z]{26}$/;
const SEQ = /^#\d{1,15}$/;
const CONFIRM = ' confirm=';

/** Shows what would be deleted and asks. Deletes if the answer matches the token shown, or is "yes". */
export async function forget(call: Call): Promise<CommandReply> {
  const asked = await previewRequest(call);
  const { preview, confirm } = asked;
  if (isEmpty(preview)) {
    // Nothing is remembered about the person, but model calls are counted under their name.
    if (preview.plan.asker !== undefined) await call.services.memories.forget(preview);
    return makeReply('Forget', { text: 'Nothing matches, so there is nothing to forget.' });
  }
  if (confirm === 'yes' || confirm === preview.token)
    return forgottenReply(await call.services.memories.forget(preview), preview);
  return forgetQuestion(asked);
}

export interface AskedPreview {
  readonly preview: TokenedPreview;
  /** What to forget: ids of memories, numbers of messages, or "me". */
  readonly wanted: string;
  /** The answer to an earlier question; null if there is none. */
  readonly confirm: string | null;
}

/** Determines what a request would delete. Throws if something is not found or not permitted. */
export async function previewRequest(call: Call): Promise<AskedPreview> {
  const { wanted, confirm } = readRequest(call);
  const target = await targetOf(call, wanted);
  // Also includes what was said a moment ago.
  if (target.kind !== 'memories' && (confirm === null || confirm === 'yes')) await extractUnread(call);
  const preview = await call.services.memories.previewForget(target, requesterOf(call));
  return { preview, wanted: idsOf(preview, target, wanted), confirm };
}

/** On a typed line the answer may follow the words. */
function readRequest(call: Call): { readonly wanted: string; readonly confirm: string | null } {
  const given = requiredOption(call, 'id');
  const confirm = optionOf(call, 'confirm')?.toLowerCase() ?? null;
  const at = confirm === null ? given.lastIndexOf(CONFIRM) : -1;
  if (at < 0) return { wanted: given.trim(), confirm };
  return {
    wanted: given.slice(0, at).trim(),
    confirm: given
      .slice(at + CONFIRM.length)
      .trim()
      .toLowerCase(),
  };
}

async function targetOf(call: Call, wanted: string): Promise<ForgetTarget> {
  const { author, conversation } = call.invocation;
  if (wanted.toLowerCase() === 'me') return { kind: 'person', personId: author.id };
  const words = wanted.split(/\s+/);
  if (words.every((word) => SEQ.test(word))) {
    return { kind: 'messages', conversation, seqs: words.map((word) => Number(word.slice(1))) };
  }
  if (words.every((word) => WHOLE_ID.test(word))) return { kind: 'memories', ids: words };
  if (words.length > 1) return { kind: 'text', text: wanted };
  try {
    return { kind: 'memories', ids: [(await findMemory(call, wanted)).id] };
  } catch (error) {
    // A search word, unless it could be an id or the start of one.
    if (error instanceof StrataError && error.code === 'NOT_FOUND' && !LIKE_AN_ID.test(wanted)) {
      return { kind: 'text', text: wanted };
    }
    throw error;
  }
}

export function isEmpty({ plan: { memoryIds, redactions, sentences } }: TokenedPreview): boolean {
  return memoryIds.length + redactions.length + sentences.length === 0;
}

/** Buttons contain ids and never the text, because the platform stores buttons. */
function idsOf({ asked }: TokenedPreview, target: ForgetTarget, wanted: string): string {
  return target.kind === 'person' || target.kind === 'messages' ? wanted : asked.join(' ');
}

export function forgetQuestion({ preview, wanted, confirm }: AskedPreview): CommandReply {
  const command = commandTo('memory forget', { id: wanted, confirm: preview.token });
  const changed = confirm !== null ? 'What would be deleted has changed since you were asked. ' : '';
  const examples = examplesOf(preview);
  return makeReply('Forget this?', {
    text: `${changed}Nothing has been deleted yet. Deleting cannot be undone.`,
    fields: countsOf(preview),
    rows: examples.length === 0 ? null : { columns: ['WHAT', 'WHO', 'WHEN', 'TEXT'], cells: examples },
    actions: [{ label: 'Delete for good', command, style: 'danger' }],
  });
}

function countsOf({ memories, messages, sentences, summaries, withheld }: TokenedPreview): readonly ReplyField[] {
  const held = sentences.filter(({ kind }) => kind === 'hold');
  const struck = sentences.filter(({ kind }) => kind === 'strike');
  return [
    { name: 'Memories', value: String(memories.length) },
    { name: 'Messages', value: byAuthor(messages.map(({ entry }) => entry)) },
    ...(struck.length === 0 ? [] : [{ name: 'Sentences', value: byAuthor(struck.map(({ entry }) => entry)) }]),
    ...(held.length === 0
      ? []
      : [{ name: 'Hidden until a moderator decides', value: byAuthor(held.map(({ entry }) => entry)) }]),
    ...withheldCounts(withheld),
    ...(summaries === 0 ? [] : [{ name: 'Summaries to rewrite', value: String(summaries) }]),
  ];
}

/** Deletions in places that can't be read from here: only counts. */
function withheldCounts({ memories, messages, sentences }: TokenedPreview['withheld']): readonly ReplyField[] {
  const counts = [
    ...(memories === 0 ? [] : [counted(memories, 'memory', 'memories')]),
    ...(messages === 0 ? [] : [counted(messages, 'message', 'messages')]),
    ...(sentences === 0 ? [] : [`${counted(sentences, 'sentence', 'sentences')} of others`]),
  ];
  return counts.length === 0 ? [] : [{ name: "In places that you can't read from here", value: counts.join(', ') }];
}

/** `3 (Ada 2, <bot> 1)` */
function byAuthor(entries: readonly Entry[]): string {
  if (entries.length === 0) return '0';
  // Two people may have one name.
  const groups = Map.groupBy(entries, ({ author }) => author?.id);
  const parts = [...groups.values()].map((own) => `${shownName(own[0]?.author ?? null)} ${own.length}`);
  return `${entries.length} (${parts.join(', ')})`;
}

function examplesOf({ memories, messages, sentences }: TokenedPreview): readonly (readonly string[])[] {
  const told = messages.map(({ entry }) => {
    return ['message', shownName(entry.author), formatTime(entry.at), excerpt(textOf(entry.parts), EXAMPLE_LENGTH)];
  });
  const single = sentences.map(({ entry, text, kind }) => {
    return [
      kind === 'hold' ? 'held back' : 'sentence',
      shownName(entry.author),
      formatTime(entry.at),
      excerpt(text, EXAMPLE_LENGTH),
    ];
  });
  const kept = memories.map((memory) => {
    return ['memory', memory.subjectName ?? '', formatTime(memory.createdAt), excerpt(memory.text, EXAMPLE_LENGTH)];
  });
  // Examples of each kind, so that frequent kinds do not hide rare ones.
  const share = Math.ceil(MAX_EXAMPLES / 3);
  return [...kept.slice(0, share), ...single.slice(0, share), ...told].slice(0, MAX_EXAMPLES);
}

type HeldKind = TokenedPreview['plan']['sentences'][number]['kind'];

function inList(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

export function forgottenReply(
  { memoryIds, messages, remains }: Forgotten,
  { summaries, plan }: Pick<TokenedPreview, 'summaries' | 'plan'>,
): CommandReply {
  const sentencesOf = (kind: HeldKind) => plan.sentences.filter((one) => one.kind === kind).length;
  const [struck, held] = [sentencesOf('strike'), sentencesOf('hold')];
  const deleted = [
    ...(memoryIds.length === 0 ? [] : [counted(memoryIds.length, 'memory', 'memories')]),
    ...(messages === 0 ? [] : [counted(messages, 'message', 'messages')]),
    ...(struck === 0 ? [] : [counted(struck, 'sentence', 'sentences')]),
  ];
  const parts = [
    ...(deleted.length === 0 ? [] : [`${inList(deleted)} deleted.`]),
    ...(summaries === 0 ? [] : ['Their summaries are being rewritten.']),
    ...(held === 0 ? [] : [`${counted(held, 'sentence', 'sentences')} of other people hidden.`]),
    ...(remains === null ? [] : [remains]),
  ];
  return makeReply('Forgotten', { text: parts.join(' '), tone: 'success' });
}
