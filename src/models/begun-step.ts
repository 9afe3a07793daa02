import { ModelError } from '../domain/errors.ts';
import type { ChatModel } from '../ports/model.ts';
import { limitWork } from '../util/async/limit.ts';
import { cleanText, isVisible } from '../util/text/text.ts';
import { type BilledStep, type OnText, type Step, type StepOptions, uncounted } from './step.ts';
import { withinLimit } from './within-limit.ts';

interface Begun extends Required<Omit<StepOptions, 'onUnseen'>> {
  readonly limitMs: number;
}

/** A call whose time is over ends with the text that it has written, as one that reached its maximum length does. */
export async function keepBegun(
  model: Pick<ChatModel, 'id'>,
  { signal, limitMs, onText, onLost }: Begun,
  collect: (options: StepOptions) => Promise<Step>,
): Promise<Step> {
  using limit = limitWork(signal, { ms: limitMs });
  let begun = '';
  let hidden = '';
  const isKept = () => limit.signal.aborted && !signal.aborted && isVisible(cleanText(begun));
  const noting: OnText = (textSoFar, added) => {
    if (limit.signal.aborted) return;
    begun = textSoFar;
    onText(textSoFar, added);
  };
  const onUnseen = (unseen: string) => {
    hidden = unseen;
  };
  // What is kept is billed as the answer.
  const breaking = (broken: BilledStep) => {
    if (!isKept()) onLost(broken);
  };
  const work = (within: AbortSignal) => collect({ signal: within, onText: noting, onUnseen, onLost: breaking });
  try {
    return await withinLimit(limit.signal, model.id, work);
  } catch (error) {
    const isLate = error instanceof ModelError && error.reason === 'timeout';
    if (!isLate || !isKept()) throw error;
    return { text: begun, calls: [], finish: 'length', usage: uncounted(hidden), reasoning: null };
  }
}
