import type { FocusReport } from '../../context/inspection.ts';
import { shorten } from '../../context/measure/truncate.ts';
import { authorLabel, BOT_LABEL, timeLabel } from '../../context/view/label.ts';
import { type Entry, textOf } from '../../domain/message.ts';
import type { MemoryKind } from '../../ports/memory-store.ts';
import type { VolatileSection } from '../../ports/sections.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { indentAll, visibleText } from '../../util/text/foreign-text.ts';
import { QUOTATION_MARKS, quotationsIn } from '../../util/text/scan.ts';

export type Intent = 'question' | 'continue' | 'recall' | 'decide' | 'remind';

/** What the newest message is about: first by its structure, then by its words. */
export interface Focus {
  /** Ids of people who speak or are mentioned. */
  readonly people: ReadonlySet<string>;
  readonly mentioned: ReadonlySet<string>;
  /** Words that are quoted, in backticks, or written like a name, in lower case. */
  readonly names: readonly string[];
  readonly intents: ReadonlySet<Intent>;
}

const MAX_NAMES = 8;
/** The beginning of a message shows what it is about; reading more would only take time. */
const READ_CHARACTERS = 8000;
const MAX_NAME = 60;
/** The signals together raise a memory by at most this much. */
export const MAX_BOOST = 12;
const QUOTE_TOKENS = 200;

/** Words in some of the most spoken languages. A missing language only loses a small boost. */
const INTENTS: Readonly<Record<Intent, RegExp>> = {
  question: /[?？؟]/u,
  continue: /\b(continue|go on|next step|weiter|continu|sigue|continúa|prossegu)|продолж|继续|続け|계속/iu,
  recall:
    /\b(remember|recall|earlier|last time|erinner|souvien|rappel|recuerda|lembra)|помни|раньше|记得|上次|覚え|前に|기억/iu,
  decide: /\b(decide|decision|agree|choose|entscheid|décid|decidi|escolh)|реши|决定|決め|決定|결정/iu,
  remind:
    /\b(remind|don't forget|todo|deadline|erinnere mich|rappelle|recuérdame|lembre)|напомни|提醒|リマインド|알려/iu,
};

const QUOTES = new Map([['`', '`'], ...QUOTATION_MARKS, ['「', '」'], ['《', '》'], ['„', '“']]);
const NAME_LIKE = /^\p{Lu}[\p{L}\p{N}]+$|\p{Ll}\p{Lu}|[._]\p{L}/u;

export function focusOf(entry: Entry): Focus {
  const text = textOf(entry.parts).slice(0, READ_CHARACTERS);
  const speaker = entry.author === null ? [] : [entry.author.id];
  const mentioned = entry.mentions.map((author) => author.id);
  const intents = (Object.keys(INTENTS) as readonly Intent[]).filter((intent) => INTENTS[intent].test(text));
  return {
    people: new Set([...speaker, ...mentioned]),
    mentioned: new Set(mentioned),
    names: namesIn(text),
    intents: new Set(intents),
  };
}

/** The focus as plain data, for people who look at a context. */
export function reportFocus(entry: Entry): FocusReport {
  const { names, intents } = focusOf(entry);
  const people = new Map(
    [entry.author, ...entry.mentions].flatMap((one) => (one === null ? [] : [[one.id, authorLabel(one)]])),
  );
  return { people: [...people].map(([id, name]) => ({ id, name })), names, intents: [...intents] };
}

function namesIn(text: string): readonly string[] {
  const quoted = quotationsIn(text, QUOTES).map((quotation) => quotation.text);
  const names = [...quoted, ...capitalised(text)].map((name) => name.trim().toLowerCase());
  return [...new Set(names)].filter((name) => name.length > 1 && name.length <= MAX_NAME).slice(0, MAX_NAMES);
}

let segmenter: Intl.Segmenter | null = null;

/** Words written like names in scripts with capitals, except at the start of a sentence. */
function capitalised(text: string): readonly string[] {
  if (!/\p{Lu}|[._]/u.test(text)) return [];
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  const names: string[] = [];
  let startsSentence = true;
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    if (isWordLike && NAME_LIKE.test(segment) && !startsSentence) names.push(segment);
    if (isWordLike) startsSentence = false;
    else if (/[.!?。！？\n]/u.test(segment)) startsSentence = true;
  }
  return names;
}

/** How much a memory gains from what the newest message is about: 0 to 12. */
export function boostOf(
  focus: Focus,
  memory: { readonly text: string; readonly kind: MemoryKind; readonly subjectId: string | null },
): number {
  const named = focus.names.length === 0 ? 0 : namedIn(focus.names, memory.text);
  return Math.min(MAX_BOOST, aboutBoost(focus, memory.subjectId) + named * 4 + intentBoost(focus.intents, memory.kind));
}

function namedIn(names: readonly string[], text: string): number {
  const lower = text.toLowerCase();
  return names.filter((name) => lower.includes(name)).length;
}

/** People ask about those they mention more than about themselves. */
function aboutBoost({ people, mentioned }: Focus, subjectId: string | null): number {
  if (subjectId === null || !people.has(subjectId)) return 0;
  return mentioned.has(subjectId) ? 8 : 6;
}

function intentBoost(intents: ReadonlySet<Intent>, kind: MemoryKind): number {
  if (intents.has('remind') && (kind === 'todo' || kind === 'event')) return 4;
  if (intents.has('decide') && kind === 'decision') return 4;
  return intents.has('recall') || intents.has('continue') ? 2 : 0;
}

/**
 * The text of the message that the newest one replies to, if a summary covers it or the bot wrote it. Reads the store
 * once, and only in that case.
 */
export async function repliedToSection(
  { store }: Pick<Services, 'store'>,
  {
    snapshot,
    newest,
    timeZone,
  }: { readonly snapshot: ContextSnapshot; readonly newest: Entry; readonly timeZone?: string },
): Promise<VolatileSection | null> {
  const { replyTo } = newest;
  if (replyTo === null || snapshot.tail.some((entry) => entry.externalId === replyTo)) return null;
  const { id, contextFrom, compactedUpto } = snapshot.conversation;
  const target = await store.transcript.byExternalId(id, replyTo);
  if (target === null || target.seq < contextFrom || target.redactedAt !== null) return null;
  // The tail shows the numbers of people's messages, but not which message of the bot a reply belongs to.
  const latest = snapshot.tail.findLast((entry) => entry.role === 'assistant')?.seq ?? 0;
  const isOlderReply = target.role !== 'user' && target.seq < latest;
  if (target.seq > compactedUpto && !isOlderReply) return null;
  return quoteSection(target, timeZone);
}

/** The message that the newest one replies to, as a section. */
export function quoteSection(target: Entry, timeZone: string | undefined): VolatileSection {
  const who = target.role === 'user' ? authorLabel(target.author) : BOT_LABEL;
  const quote = indentAll(shorten(visibleText(textOf(target.parts)), QUOTE_TOKENS));
  return {
    key: 'replied-to',
    text: `[The newest message replies to #${target.seq} | ${timeLabel(target.at, timeZone)} | ${who}]\n${quote}`,
    source: `transcript #${target.seq}`,
    reason: 'the newest message replies to it',
    memoryIds: [],
  };
}
