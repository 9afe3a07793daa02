import { type Entry, textOf } from '../domain/message.ts';
import type { Passage } from '../ports/sections.ts';
import type { Conversation } from '../ports/store.ts';
import { asksOfThePast } from '../search/passages/asking.ts';
import { MIN_GROUNDING, passageText } from '../search/passages/recall-passages.ts';
import { rankTranscript } from '../search/ranking/transcript-search.ts';
import type { Services } from '../services.ts';

/** An answered message that asks about the past, and what bears on it. */
export interface RecordedQuestion {
  /** Seqs of the earlier messages that bear on it most. */
  readonly evidence: readonly number[];
  /** What recall may quote, best first. */
  readonly passages: readonly Passage[];
}

/** Each takes a search. Of more, as many are chosen evenly. */
const MAX_QUESTIONS = 60;
const MAX_EVIDENCE = 5;
/** More than any window quotes. */
const MAX_PASSAGES = 60;
const PROPOSED = 100;
const READ_CHARACTERS = 2000;

/** By seq. Calls no model. */
export async function readQuestions(
  services: Pick<Services, 'store' | 'search'>,
  conversation: Pick<Conversation, 'id'>,
  { entries, timeZone }: { readonly entries: readonly Entry[]; readonly timeZone: string },
): Promise<ReadonlyMap<number, RecordedQuestion>> {
  const fromSeq = entries[0]?.seq ?? 1;
  const questions = new Map<number, RecordedQuestion>();
  for (const { seq, parts } of spread(entries.filter(isQuestion), MAX_QUESTIONS)) {
    const question = textOf(parts).slice(-READ_CHARACTERS);
    const range = { conversationId: conversation.id, question, fromSeq, toSeq: seq - 1, proposed: PROPOSED };
    const { hits, grounding } = await rankTranscript(services, range);
    if (grounding < MIN_GROUNDING) continue;
    const said = hits.filter(({ entry }) => entry.role !== 'tool' && textOf(entry.parts).trim() !== '');
    const evidence = said.filter(({ isMatch }) => isMatch).slice(0, MAX_EVIDENCE);
    const passages = said.slice(0, MAX_PASSAGES).map(({ entry }) => {
      return { seq: entry.seq, externalId: entry.externalId, text: passageText(entry, timeZone) };
    });
    if (evidence.length > 0) questions.set(seq, { evidence: evidence.map((hit) => hit.seq), passages });
  }
  return questions;
}

function isQuestion({ role, parts, redactedAt }: Entry): boolean {
  return role === 'user' && redactedAt === null && asksOfThePast(textOf(parts));
}

function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (items.length <= count) return items;
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]).filter(
    (item) => item !== undefined,
  );
}
