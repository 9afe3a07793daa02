import type { Entry } from '../domain/message.ts';
import type { Services } from '../services.ts';
import { type Evidence, weigh } from './features.ts';
import { createLineReader, type Line } from './passages.ts';
import { type Question, readQuestion } from './query.ts';
import { AMONG_PEOPLE, type Weights, WITH_BOT } from './ranker.ts';
import { fold } from './words.ts';

export interface TranscriptQuery {
  readonly conversationId: number;
  /** Words of a person: a question, or a few words. */
  readonly question: string;
  readonly limit: number;
  /** Stop before the entries found hold more tokens than this. */
  readonly tokenBudget?: number;
}

export interface TranscriptHit {
  readonly seq: number;
  /** The platform's id of the message, or the number where it has none. */
  readonly id: string;
  /** Comparable within one answer only. */
  readonly score: number;
  readonly tokens: number;
  readonly entry: Entry;
  /** It holds words of the question itself. Otherwise it stands beside an entry that does. */
  readonly isMatch: boolean;
}

/** How many entries the index proposes, and how many of the best ones bring their neighbours. */
const PROPOSED = 400;
const SURROUNDED = 64;
const SURROUNDING = 3;
/** Entries that are read for one question, however long the conversation is. */
const READ_ENTRIES = 420;
/** From this share of answers on, a conversation is one with a bot and not among people. */
const BOT_SHARE = 0.25;
/** What an entry loses for each doubling of its length, about, when tokens are counted. */
const LENGTH_PENALTY = 0.6;

/**
 * The entries that most likely hold the answer, best first. Full text proposes, then a weighted sum of signs decides:
 * the words themselves, the lines around, who speaks, what the question asks for. No model, and no work that grows
 * with the conversation.
 */
export async function searchTranscript(
  services: Pick<Services, 'store' | 'search'>,
  query: TranscriptQuery,
): Promise<readonly TranscriptHit[]> {
  const { conversationId } = query;
  const conversation = await services.store.conversations.get(conversationId);
  if (!conversation) return [];
  const words = readQuestion(query.question).words.join(' ');
  const proposed = await services.search.entries({ conversationId, text: words, limit: PROPOSED });
  const seqs = withNeighbours(proposed.map((hit) => hit.seq));
  const entries = (await services.store.transcript.pick(conversationId, seqs)).filter(isReadable);
  const ranked = rankEntries(entries, query.question, conversation.nextSeq - 1);
  const matching = new Set(proposed.map((hit) => hit.seq));
  const hits = ranked.map((hit) => ({ ...hit, isMatch: matching.has(hit.seq) }));
  return pack(hits, query);
}

/** Pure: the entries by how likely they answer the question. */
function rankEntries(entries: readonly Entry[], text: string, total: number): readonly RankedEntry[] {
  const question = readQuestion(text, namesOf(entries));
  const { lines, evidence } = evidenceFor(entries, question, total);
  const weights = isWithBot(lines) ? WITH_BOT : AMONG_PEOPLE;
  return evidence
    .map((signs, index) => toHit(entries[index], scoreOf(signs, weights)))
    .filter((hit) => hit !== null)
    .sort((a, b) => b.score - a.score || a.seq - b.seq);
}

function evidenceFor(
  entries: readonly Entry[],
  question: Question,
  total: number,
): { readonly lines: readonly Line[]; readonly evidence: readonly Evidence[] } {
  const lines = entries.map(createLineReader(question));
  return { lines, evidence: weigh(lines, question, total) };
}

function namesOf(entries: readonly Entry[]): readonly string[] {
  const people = entries.flatMap((entry) => (entry.role === 'user' && entry.author ? [entry.author.name] : []));
  return [...new Set(people)].map(fold).filter((name) => name !== 'user');
}

function isWithBot(lines: readonly Line[]): boolean {
  return lines.filter((line) => line.isBot).length > BOT_SHARE * lines.length;
}

type RankedEntry = Omit<TranscriptHit, 'isMatch'>;

function toHit(entry: Entry | undefined, score: number): RankedEntry | null {
  if (entry === undefined) return null;
  return { seq: entry.seq, id: entry.externalId ?? `#${entry.seq}`, score, tokens: entry.tokens, entry };
}

function scoreOf(evidence: Evidence, weights: Weights): number {
  let score = 0;
  for (const [sign, weight] of weights) score += weight * evidence[sign];
  return score;
}

function withNeighbours(seqs: readonly number[]): readonly number[] {
  const all = new Set<number>();
  for (const [rank, seq] of seqs.entries()) {
    if (all.size >= READ_ENTRIES) break;
    const around = rank < SURROUNDED ? SURROUNDING : 0;
    for (let offset = -around; offset <= around; offset++) if (seq + offset > 0) all.add(seq + offset);
  }
  return [...all].sort((a, b) => a - b);
}

function isReadable(entry: Entry): boolean {
  return entry.redactedAt === null && entry.role !== 'notice';
}

/** As many of the first `limit` as fit, the best first. */
function pack(ranked: readonly TranscriptHit[], { limit, tokenBudget }: TranscriptQuery): readonly TranscriptHit[] {
  const first = ranked.slice(0, limit);
  return tokenBudget === undefined ? first : packTokens(first, tokenBudget);
}

/**
 * The most telling ones within the budget: a long entry has to be worth the several that it would push out. Best first.
 */
export function packTokens<Hit extends Pick<TranscriptHit, 'score' | 'tokens'>>(
  hits: readonly Hit[],
  tokenBudget: number,
): readonly Hit[] {
  const worth = (hit: Hit) => hit.score - LENGTH_PENALTY * Math.log(Math.max(1, hit.tokens));
  let left = tokenBudget;
  const kept = hits
    .toSorted((a, b) => worth(b) - worth(a))
    .filter((hit) => {
      if (hit.tokens > left) return false;
      left -= hit.tokens;
      return true;
    });
  return kept.sort((a, b) => b.score - a.score);
}
