import type { AgentSettings } from '../../config/schema.ts';
import { estimateText } from '../../context/measure/tokens.ts';
import { BOT_LABEL, labelOf, timeLabel } from '../../context/view/label.ts';
import { type Entry, textOf } from '../../domain/message.ts';
import type { Passage, PassageSection, QuotedEntries } from '../../ports/sections.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import { promptSourceOf } from '../../prompts/variables.ts';
import type { Services } from '../../services.ts';
import { underLabel } from '../../util/text/foreign-text.ts';
import { isOwnPast, kindsAskedFor } from '../ranking/asked-kinds.ts';
import { bestFirst, byWorth, rankTranscript, type TranscriptHit } from '../ranking/transcript-search.ts';
import { asksOfThePast } from './asking.ts';
import type { PlaceQuestion } from './place-passages.ts';
import { worthQuoting } from './worth-quoting.ts';

/** If less than this share of the question is found, the match is chance. Calibrated with `bench/recall.ts`. */
export const MIN_GROUNDING = 0.25;
/** Of several consecutive messages, this many of those that ask are looked up. */
const MAX_QUESTIONS = 4;
const READ_CHARACTERS = 2000;
/**
 * The ranked entries offered: an engine leaves out those that its view shows, and the others have several times the
 * tokens that are usually quoted.
 */
const MAX_CANDIDATES = 200;
/** If more messages than these have a kind of detail, it does not distinguish them. */
const MAX_LOST = 30;
/** Fewer say no more than this. */
const MIN_LOST = 3;
/** If a question shares too few words with any message, this many messages with a lost detail of that kind are offered. */
const MAX_UNGROUNDED = 12;
/** Among this many of the best, a message up to this length is quoted with the question that it answers. */
const MAX_EXPLAINED = 20;
const MAX_BRIEF_TOKENS = 12;
/** Even the smallest window shows this much of a tail without a cut. */
const SMALL_TAIL_TOKENS = 1000;

interface Asking {
  readonly agent: AgentSettings;
  readonly snapshot: ContextSnapshot;
  /** What the turn answers, oldest first. */
  readonly waiting: readonly Entry[];
}

/**
 * Messages beyond the view that help to answer the waiting ones, verbatim, best first; null if no message asks about
 * the past. On the reply path: one indexed query and one read, and none if nothing is beyond the view. With `places`
 * of `[recall]`, messages of other conversations in the same place too.
 */
export async function passagesFor(
  services: Pick<Services, 'store' | 'search' | 'prompts' | 'reranker'>,
  { agent, snapshot, waiting }: Asking,
): Promise<PassageSection | null> {
  const { conversation } = snapshot;
  if (agent.recall.tokens === 0) return null;
  const question = isAllShown(snapshot) && !agent.recall.places ? '' : questionIn(waiting);
  if (question === '') return null;
  const elsewhere = { conversation, question, minGrounding: MIN_GROUNDING, timeZone: agent.timezone };
  const [own, others] = await Promise.all([
    isAllShown(snapshot) ? [] : ownPassages(services, { agent, snapshot, waiting, question }),
    agent.recall.places ? passagesElsewhere(services, elsewhere) : [],
  ]);
  const found = [...own, ...others];
  if (found.length === 0) return null;
  const passages = byWorth(await reranked(services, found, { agent, snapshot, question }));
  const from = promptSourceOf(agent);
  return {
    key: 'passages',
    text: services.prompts.render('passages', {}, from).text,
    source: 'transcript',
    reason: 'earlier messages relevant to the newest message',
    memoryIds: [],
    quotes: quotesOf(others),
    passages,
  };
}

interface QuotedElsewhere {
  readonly seq: number;
  /** The conversation when it was searched. */
  readonly of: { readonly id: number; readonly revision: number };
}

function quotesOf(others: readonly QuotedElsewhere[]): readonly QuotedEntries[] {
  const found = Map.groupBy(others, ({ of }) => of.id);
  return [...found].map(([conversationId, own]) => ({
    conversationId,
    revision: Math.min(...own.map(({ of }) => of.revision)),
    seqs: own.map(({ seq }) => seq),
  }));
}

async function passagesElsewhere(services: Pick<Services, 'store' | 'search'>, asked: PlaceQuestion) {
  const { passagesOfPlace } = await import('./place-passages.ts');
  return await passagesOfPlace(services, asked);
}

/** Only what the view does not show is sent to the reranker. */
async function reranked<Item extends Passage & Pick<Quoted, 'score'>>(
  { reranker }: Pick<Services, 'reranker'>,
  found: readonly Item[],
  { agent, snapshot, question }: Pick<Asking, 'agent' | 'snapshot'> & { readonly question: string },
): Promise<readonly Item[]> {
  if (reranker === null || agent.recall.rerank_model === '') return found;
  const first = firstInView(snapshot);
  const isShown = ({ seq, from }: Item) => from === undefined && seq >= first;
  const quotable = found.filter((item) => !isShown(item)).sort((a, b) => b.score - a.score);
  const { rerank } = await import('./rerank.ts');
  return [...(await rerank(reranker, quotable, { question, recall: agent.recall })), ...found.filter(isShown)];
}

async function ownPassages(
  services: Pick<Services, 'store' | 'search'>,
  { agent, snapshot, waiting, question }: Asking & { readonly question: string },
): Promise<readonly Quoted[]> {
  const { conversation } = snapshot;
  const toSeq = (waiting[0]?.seq ?? conversation.nextSeq) - 1;
  const range = { conversationId: conversation.id, question, fromSeq: conversation.contextFrom, toSeq };
  const likely = lostAndAskedFor(snapshot, question);
  const { hits, grounding } = await rankTranscript(services, { ...range, likely });
  const isGrounded = grounding >= MIN_GROUNDING;
  const shown = isGrounded ? hits : isOwnPast(question) ? hits.filter(({ seq }) => likely.has(seq)) : [];
  const first = withQuestions(shown).slice(0, isGrounded ? MAX_CANDIDATES : MAX_UNGROUNDED);
  return worthQuoting(first, { tokens: agent.recall.tokens, shownFrom: firstInView(snapshot) }).flatMap((hit) =>
    quoted(hit, agent.timezone),
  );
}

function firstInView({ tail, conversation }: ContextSnapshot): number {
  return tail[0]?.seq ?? conversation.nextSeq;
}

/** A brief answer says nothing without the question before it, so the question ranks as high as the answer. */
function withQuestions(hits: readonly TranscriptHit[]): readonly TranscriptHit[] {
  const explained = [...hits];
  for (const { seq, entry, score } of hits.slice(0, MAX_EXPLAINED)) {
    if (!isBrief(entry)) continue;
    const at = explained.findIndex((hit) => hit.seq === seq - 1);
    const before = explained[at];
    const isAsked = before !== undefined && before.entry.author?.id !== entry.author?.id && asks(before.entry);
    if (isAsked) explained[at] = { ...before, score: Math.max(before.score, score) };
  }
  return explained.sort(bestFirst);
}

function asks({ parts }: Entry): boolean {
  return /[?？؟]/u.test(textOf(parts).slice(-4));
}

function isBrief({ tokens }: Entry): boolean {
  return tokens <= MAX_BRIEF_TOKENS;
}

/** Whether the view may lack anything: every window shows a tail of few tokens whole. */
function isAllShown(snapshot: ContextSnapshot): boolean {
  const { tail, conversation } = snapshot;
  if (firstInView(snapshot) > conversation.contextFrom) return false;
  let sum = 0;
  for (const { tokens } of tail) {
    sum += tokens;
    if (sum >= SMALL_TAIL_TOKENS) return false;
  }
  return true;
}

/**
 * Messages with the kind of detail that is asked for, which the summaries in view leave out. The fewer messages have it,
 * the more it says.
 */
function lostAndAskedFor({ stack }: ContextSnapshot, question: string): ReadonlyMap<number, number> {
  const likely = new Map<number, number>();
  for (const kind of kindsAskedFor(question)) {
    const seqs = new Set(stack.flatMap(({ lost }) => lost[kind] ?? []));
    const likelihood = Math.sqrt(MAX_LOST / Math.max(MIN_LOST, seqs.size));
    if (seqs.size <= MAX_LOST) for (const seq of seqs) likely.set(seq, Math.max(likelihood, likely.get(seq) ?? 0));
  }
  return likely;
}

/** The question of the person who wrote last, from their consecutive messages. */
function questionIn(waiting: readonly Entry[]): string {
  const newest = waiting.at(-1);
  const before = waiting.findLastIndex((entry) => entry.author?.id !== newest?.author?.id);
  return waiting
    .slice(before + 1)
    .map((entry) => textOf(entry.parts))
    .filter(asksOfThePast)
    .slice(-MAX_QUESTIONS)
    .join('\n')
    .slice(-READ_CHARACTERS)
    .toWellFormed();
}

interface Quoted extends Pick<TranscriptHit, 'seq' | 'score' | 'tokens'> {
  readonly text: string;
  readonly externalId: string | null;
}

function quoted({ seq, score, entry }: TranscriptHit, timeZone: string): readonly Quoted[] {
  const spoken = textOf(entry.parts);
  if (entry.role === 'tool' || spoken.trim() === '') return [];
  const text = passageText(entry, timeZone);
  return [{ seq, externalId: entry.externalId, score, text, tokens: estimateText(text) }];
}

/** A message as it is quoted. */
export function passageText(entry: Entry, timeZone: string): string {
  const label = entry.role === 'user' ? labelOf(entry, null, timeZone) : botLabel(entry, timeZone);
  return underLabel(label, textOf(entry.parts));
}

function botLabel({ seq, at }: Entry, timeZone: string): string {
  return `[#${seq} | ${timeLabel(at, timeZone)} | ${BOT_LABEL}] `;
}
