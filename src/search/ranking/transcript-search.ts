import { isRepetition } from '../../domain/lookups.ts';
import type { Entry } from '../../domain/message.ts';
import type { Services } from '../../services.ts';
import { fold } from '../words/words.ts';
import { scoresOf } from './features.ts';
import { createLineReader, type Line } from './lines.ts';
import { type Pool, poolOf } from './pool.ts';
import { readQuestion } from './question.ts';
import { AMONG_PEOPLE, WITH_BOT } from './weights.ts';

export interface TranscriptQuery {
  readonly conversationId: number;
  /** A person's words: a question, or a few keywords. */
  readonly question: string;
  readonly limit: number;
  /** Stop before the results exceed this many tokens. */
  readonly tokenBudget?: number;
}

export interface TranscriptHit {
  readonly seq: number;
  /** The platform's message id, or the number if there is none. */
  readonly id: string;
  /** Comparable only within one result list. */
  readonly score: number;
  readonly tokens: number;
  readonly entry: Entry;
  /** It contains words of the question. Otherwise it is a neighbour of an entry that does. */
  readonly isMatch: boolean;
}

/** The beginning of a question that is read, as much as anybody types. Its words are compared with every candidate. */
const READ_CHARACTERS = 4000;
/** Number of entries that the index proposes, and how many of the best ones bring their neighbours. */
const PROPOSED = 400;
const SURROUNDED = 64;
const SURROUNDING = 3;
/** Maximum entries read for one question, however long the conversation is. */
const READ_ENTRIES = 420;
const NONE: ReadonlyMap<number, number> = new Map();
/** As much as a strong match of a word. */
const LIKELY_BONUS = 3;
/** With at least this share of answers, the conversation counts as one with a bot rather than among people. */
const BOT_SHARE = 0.25;
/** Approximate penalty for each doubling of an entry's length, when tokens are counted. */
const LENGTH_PENALTY = 0.6;

/**
 * The entries most likely to contain the answer, best first. Full-text search proposes; then a weighted sum of features
 * decides: the words, the surrounding lines, the speaker, and what the question asks for. Uses no model, and takes the
 * same time however long the conversation is.
 */
export async function searchTranscript(
  services: Pick<Services, 'store' | 'search'>,
  query: TranscriptQuery,
): Promise<readonly TranscriptHit[]> {
  const { conversationId } = query;
  const question = query.question.slice(0, READ_CHARACTERS).toWellFormed();
  const conversation = await services.store.conversations.get(conversationId);
  if (!conversation) return [];
  const { hits } = await rankTranscript(services, {
    conversationId,
    question,
    fromSeq: 1,
    toSeq: conversation.nextSeq - 1,
  });
  return pack(hits, query);
}

export interface RankRequest {
  readonly conversationId: number;
  readonly question: string;
  /** Only entries of this range. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /** How many entries the index proposes. Default 400. */
  readonly proposed?: number;
  /**
   * Entries that may answer it without sharing a word with it, and how much more likely than usual that is. They count as
   * proposed, and rank higher.
   */
  readonly likely?: ReadonlyMap<number, number>;
}

export interface Ranking {
  /** Best first. */
  readonly hits: readonly TranscriptHit[];
  /** 0..1: how much of the question occurs together in one place. Named speakers and dates count. */
  readonly grounding: number;
}

/** All candidates of a range, most likely answers first. */
export async function rankTranscript(
  services: Pick<Services, 'store' | 'search'>,
  { conversationId, question, fromSeq, toSeq, proposed: limit = PROPOSED, likely = NONE }: RankRequest,
): Promise<Ranking> {
  const { words, inflects } = readQuestion(question);
  const query = { conversationId, text: words.join(' '), inflects, limit, fromSeq, toSeq };
  const proposed = await services.search.entries(query);
  const found = withNeighbours(proposed.map((hit) => hit.seq));
  const seqs = [...found.union(new Set(likely.keys()))]
    .filter((seq) => seq >= fromSeq && seq <= toSeq)
    .sort((a, b) => a - b);
  const entries = (await services.store.transcript.pick(conversationId, seqs)).filter(isReadable);
  const matching = new Set(proposed.map((hit) => hit.seq));
  return rankEntries(entries, { question, likely, matching, total: toSeq - fromSeq + 1 });
}

interface Ranked extends Required<Pick<RankRequest, 'question' | 'likely'>> {
  /** Seqs of the proposed entries. */
  readonly matching: ReadonlySet<number>;
  readonly total: number;
}

/** Pure: ranks the entries by how likely they answer the question. */
function rankEntries(entries: readonly Entry[], { question: text, likely, matching, total }: Ranked): Ranking {
  const question = readQuestion(text, namesOf(entries));
  const read = createLineReader(question);
  const lines = entries.map((entry) => read(entry, matching.has(entry.seq)));
  const pool = poolOf(lines, question, total);
  const scores = scoresOf(pool, isWithBot(lines) ? WITH_BOT : AMONG_PEOPLE);
  const grounding = groundingOf(pool);
  const hits = entries.map((entry, index) => {
    const score = (scores[index] ?? 0) + bonusOf(likely.get(entry.seq), grounding);
    return toHit(entry, { score, isMatch: matching.has(entry.seq) });
  });
  return { hits: hits.sort(bestFirst), grounding };
}

export function bestFirst(a: Pick<TranscriptHit, 'score' | 'seq'>, b: Pick<TranscriptHit, 'score' | 'seq'>): number {
  return descending(a.score, b.score) || a.seq - b.seq;
}

/** Only the sign: a difference of fractions would be an object for each comparison. */
function descending(a: number, b: number): number {
  return a === b ? 0 : a < b ? 1 : -1;
}

/** The less of the question is found, the less its words decide. */
function bonusOf(likelihood: number | undefined, grounding: number): number {
  return likelihood === undefined ? 0 : LIKELY_BONUS * (1 + (likelihood - 1) * (1 - grounding));
}

function groundingOf({ question, lines, topicCoverage, isMentioned }: Pool): number {
  const isSure = question.date !== null || lines.some(({ entry }) => isMentioned(entry.author?.name ?? ''));
  return isSure ? 1 : topicCoverage;
}

function namesOf(entries: readonly Entry[]): readonly string[] {
  const people = new Set<string>();
  for (const { role, author } of entries) if (role === 'user' && author !== null) people.add(author.name);
  return [...people].map(fold).filter((name) => name !== 'user');
}

function isWithBot(lines: readonly Line[]): boolean {
  return lines.filter((line) => line.isBot).length > BOT_SHARE * lines.length;
}

function toHit(entry: Entry, { score, isMatch }: Pick<TranscriptHit, 'score' | 'isMatch'>): TranscriptHit {
  const { seq, externalId, tokens } = entry;
  return { seq, id: externalId ?? `#${seq}`, score, tokens, entry, isMatch };
}

function withNeighbours(seqs: readonly number[]): ReadonlySet<number> {
  const all = new Set<number>();
  for (let rank = 0; rank < seqs.length && all.size < READ_ENTRIES; rank += 1) {
    const seq = seqs[rank] ?? 0;
    const around = rank < SURROUNDED ? SURROUNDING : 0;
    for (let offset = -around; offset <= around; offset++) if (seq + offset > 0) all.add(seq + offset);
  }
  return all;
}

function isReadable(entry: Entry): boolean {
  return entry.redactedAt === null && entry.role !== 'notice' && !isRepetition(entry);
}

/** The best of the first `limit` that fit. */
function pack(ranked: readonly TranscriptHit[], { limit, tokenBudget }: TranscriptQuery): readonly TranscriptHit[] {
  const first = ranked.slice(0, limit);
  return tokenBudget === undefined ? first : packTokens(first, tokenBudget);
}

/**
 * The most relevant entries within the budget, best first. A long entry must be worth the several short ones that it
 * would displace.
 */
export function packTokens<Hit extends Pick<TranscriptHit, 'score' | 'tokens'>>(
  hits: readonly Hit[],
  tokenBudget: number,
): readonly Hit[] {
  let left = tokenBudget;
  const kept = byWorth(hits).filter((hit) => {
    if (hit.tokens > left) return false;
    left -= hit.tokens;
    return true;
  });
  return kept.toSorted((a, b) => b.score - a.score);
}

/** Relevance per length: the order in which a budget is filled. */
export function byWorth<Hit extends Pick<TranscriptHit, 'score' | 'tokens'>>(hits: readonly Hit[]): readonly Hit[] {
  const worth = Float64Array.from(hits, (hit) => hit.score - LENGTH_PENALTY * Math.log(Math.max(1, hit.tokens)));
  const order = Uint32Array.from(hits.keys()).sort((a, b) => descending(worth[a] ?? 0, worth[b] ?? 0));
  return Array.from(order, (at) => hits[at]).filter((hit) => hit !== undefined);
}
