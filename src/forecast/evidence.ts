import { fitPassages } from '../context/fit/passages.ts';
import { autoRecallTokens } from '../context/profile/shares.ts';
import type { Entry } from '../domain/message.ts';
import type { RecordedQuestion } from './questions.ts';
import { type Moment, measureAt, type ViewContext } from './view.ts';

/** Earlier messages that bear on questions about the past, and those that the requests show word for word. */
export interface EvidenceCount {
  readonly questions: number;
  readonly messages: number;
  readonly inView: number;
}

export interface EvidenceCounter {
  /** Called with every entry, in order, and the moment of the request for a reply. */
  add(entry: Entry, moment: Moment): void;
  result(): EvidenceCount;
}

export interface EvidenceContext extends ViewContext {
  /** The line above passages. */
  readonly passagesHeading: string;
}

/** A question counts when it is answered. */
export function createEvidenceCounter(context: EvidenceContext): EvidenceCounter {
  const sum = { questions: 0, messages: 0, inView: 0 };
  let waiting: RecordedQuestion[] = [];
  return {
    add({ role, seq }, moment) {
      const asked = role === 'user' ? context.recording.questions.get(seq) : undefined;
      if (asked !== undefined) waiting.push(asked);
      if (role !== 'assistant') return;
      for (const question of waiting) {
        sum.questions += 1;
        sum.messages += question.evidence.length;
        sum.inView += inView(context, question, moment);
      }
      waiting = [];
    },
    result: () => sum,
  };
}

/** In the tail, or quoted as recall would. */
function inView(context: EvidenceContext, { evidence, passages }: RecordedQuestion, moment: Moment): number {
  const { recording, profile, correction, passagesHeading: text } = context;
  const firstSeq = recording.entries[moment.start]?.seq ?? Number.POSITIVE_INFINITY;
  const { windowTokens, thresholds } = profile;
  const space = thresholds.emergency * windowTokens - measureAt(context, moment).used;
  const freeTokens = Math.max(space / correction, autoRecallTokens(windowTokens));
  const section = { key: 'passages', text, source: '', reason: '', memoryIds: [], passages };
  const quoted = fitPassages(section, { profile, others: [], freeTokens, firstSeq })?.passages ?? [];
  const shown = new Set(quoted.map(({ seq }) => seq));
  return evidence.filter((seq) => seq >= firstSeq || shown.has(seq)).length;
}
