import { type Audience, type Entry, textOfEverything } from '../../domain/message.ts';
import type { Memory } from '../../ports/memory-store.ts';
import type { Addition, MemoryReading } from '../../ports/provenance-store.ts';
import { joinedNumbersIn } from '../../search/words/joined-numbers.ts';
import { spelt } from '../../search/words/spelling.ts';
import { cachedStem } from '../../search/words/stem.ts';
import { memoize } from '../../util/async/memoize.ts';
import { matchesStatement, type StatementTraits, traitsOf, traitsWithout } from './statement-match.ts';
import { spellingIn, stemsIn, wordsIn } from './vocabulary.ts';

/** A statement to forget, and the replies that were given it. */
export interface Statement {
  readonly traits: StatementTraits;
  /** Words that only somebody who has read it would use. */
  readonly stems: ReadonlySet<string>;
  /** This many of them in one text prove that it was read. */
  readonly minStems: number;
  readonly memory: Memory | null;
  readonly sources: readonly { readonly conversationId: number; readonly seq: number }[];
  readonly readings: readonly Pick<MemoryReading, 'conversationId' | 'fromSeq'>[];
  /** When the bot learned it, in epoch milliseconds. */
  readonly since: number;
  /** What edits added since then. */
  readonly additions: readonly Addition[];
}

/** A text of the bot: an entry, or a summary treated like one. */
export type BotText = Pick<Entry, 'seq' | 'at' | 'role' | 'author' | 'parts'>;

export interface Surroundings {
  readonly conversationId: number;
  /** Text that stays readable there and shares words with what is being forgotten. */
  readonly staying: readonly Entry[];
}

const MAX_STATEMENT_LENGTH = 2000;
/** This many telling words of a message prove that it was read. A long message shares some with any reply. */
const MAX_MESSAGE_STEMS = 3;
const STEMS_EACH = 4;
const MIN_STEM_LENGTH = 3;
/** Words that everybody uses prove nothing. */
const GENERAL = new Set(
  'like love want need prefer use live work play say tell know think go come make take give get name call number thing time day year new old good nice great please thank note noted remember forget help'
    .split(' ')
    .map(cachedStem),
);

export function statementOfMemory(
  memory: Memory,
  { audience, readings }: { readonly audience: Audience; readonly readings: readonly MemoryReading[] },
): Statement {
  const traits = traitsOf(memory, audience);
  return {
    traits,
    stems: tellingStems(traits, memory.text),
    minStems: 1,
    memory,
    sources: memory.sources,
    readings: readings.filter(({ memoryId }) => memoryId === memory.id),
    since: Math.min(memory.createdAt, memory.validFrom),
    additions: [],
  };
}

/** The text of a deleted message: a reply may have repeated more of it than a memory contains. */
export function statementOfMessage(
  entry: Entry,
  { audience, conversationId }: { readonly audience: Audience; readonly conversationId: number },
): Statement {
  const text = textOfEverything(entry).slice(0, MAX_STATEMENT_LENGTH);
  const { author } = entry;
  const traits = traitsOf({ text, subjectId: author?.id ?? null, subjectName: author?.name ?? null }, audience);
  const stems = tellingStems(traits, text);
  return {
    traits,
    stems,
    minStems: minStemsOf(stems),
    memory: null,
    sources: [{ conversationId, seq: entry.seq }],
    readings: [],
    since: entry.at,
    additions: [],
  };
}

function minStemsOf(stems: ReadonlySet<string>): number {
  return Math.max(1, Math.min(MAX_MESSAGE_STEMS, Math.ceil(stems.size / STEMS_EACH)));
}

const versions = memoize((_: Statement) => new Map<string, Statement>(), new WeakMap());

/**
 * What the statement said at a time. Without this, somebody could reword what they once said so that it repeats what
 * the bot told others since, and have that deleted with it.
 */
function asOf(statement: Statement, time: number): Statement {
  const later = statement.additions.filter(({ at }) => at > time);
  if (later.length === 0) return statement;
  const known = versions(statement);
  const key = String(later.map(({ at }) => at));
  const version = known.get(key) ?? without(statement, later);
  known.set(key, version);
  return version;
}

function without(statement: Statement, later: readonly Addition[]): Statement {
  const added = new Set(later.flatMap(({ words }) => words.map(cachedStem)));
  const stems = statement.stems.difference(added);
  const minStems = statement.memory === null ? minStemsOf(stems) : statement.minStems;
  return { ...statement, traits: traitsWithout(statement.traits, added), stems, minStems };
}

function tellingStems(traits: StatementTraits, text: string): ReadonlySet<string> {
  const telling = traits.words.filter((word) => traits.secrets.has(word) || isTelling(word));
  return new Set([...telling.map(cachedStem).filter((stem) => !GENERAL.has(stem)), ...joinedNumbersIn(text)]);
}

function isTelling(word: string): boolean {
  if (!/^[a-z0-9]+$/.test(word)) return true;
  return word.length >= MIN_STEM_LENGTH && /[a-z]/.test(word);
}

/**
 * Whether the bot learned this from what is being forgotten: it was given that before, it repeats the statement or uses
 * words of it that nobody else used, and no remaining text said it earlier.
 */
export function isDerived(text: BotText, whole: Statement, around: Surroundings): boolean {
  const statement = asOf(whole, text.at);
  const remains = remainsAmong(around)(statement);
  const { root } = remains;
  if (root === null ? text.at < statement.since : text.seq <= root) return false;
  if (matchesStatement(text, statement.traits) && !isSaidBefore(text, statement, remains)) return true;
  return root !== null && giveaways(text, remains) >= statement.minStems;
}

/** Only entries after this one can repeat it; null if no reply is known to have read it. */
function rootIn({ sources, readings }: Statement, conversationId: number): number | null {
  const seqs = [
    ...sources.filter((source) => source.conversationId === conversationId).map(({ seq }) => seq),
    ...readings.filter((reading) => reading.conversationId === conversationId).map(({ fromSeq }) => fromSeq),
  ];
  return seqs.length === 0 ? null : Math.min(...seqs);
}

/** Whether a text that stays said the same before, so that the bot may have it from there. */
function isSaidBefore(text: BotText, { traits }: Statement, remains: Remains): boolean {
  const told = traits.secrets.intersection(wordsIn(text));
  return remains.saying().some((entry) => told.isSubsetOf(wordsIn(entry)));
}

/** How many telling words of the statement occur in the text, in any spelling, and nowhere in the remaining texts. */
function giveaways(text: BotText, remains: Remains): number {
  return remains.words.filter((word) => word.isGivenAwayBy(text)).length;
}

/** What the remaining texts say of a statement. The same for each text that is compared with it. */
interface Remains {
  readonly root: number | null;
  /** The earlier ones that say it. */
  saying(): readonly Entry[];
  readonly words: readonly TellingWord[];
}

interface TellingWord {
  /** Whether the text uses it, and no remaining one does. */
  isGivenAwayBy(text: Pick<Entry, 'parts'>): boolean;
}

const remainsAmong = memoize(
  (around: Surroundings) => memoize((statement: Statement) => compare(statement, around), new WeakMap()),
  new WeakMap(),
);

function compare(statement: Statement, { staying, conversationId }: Surroundings): Remains {
  const { traits, stems } = statement;
  const root = rootIn(statement, conversationId);
  const isEarlier = (entry: Entry) => isBefore(entry, statement, root);
  // Later texts of the bot may be echoes themselves.
  const known = memoize((all: readonly Entry[]) => all.filter((entry) => entry.role === 'user' || isEarlier(entry)));
  const said = memoize((all: readonly Entry[]) =>
    all.filter((entry) => isEarlier(entry) && matchesStatement(entry, traits)),
  );
  return {
    root,
    saying: () => said(staying),
    words: [...stems].map((stem) => tellingWord(stem, () => known(staying))),
  };
}

function tellingWord(stem: string, known: () => readonly Entry[]): TellingWord {
  const isSpelt = spelt(stem);
  const isIn = (text: Pick<Entry, 'parts'>) => stemsIn(text).has(stem) || isSpelt(spellingIn(text));
  let isKnown: boolean | null = null;
  return {
    isGivenAwayBy(text) {
      if (isKnown === true || !isIn(text)) return false;
      isKnown ??= known().some(isIn);
      return !isKnown;
    },
  };
}

function isBefore(entry: Pick<Entry, 'seq' | 'at'>, { since }: Statement, root: number | null): boolean {
  return root === null ? entry.at <= since : entry.seq < root;
}
