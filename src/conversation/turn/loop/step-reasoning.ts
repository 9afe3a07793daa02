import type { ReasonedMessage, Reasoning } from '../../../models/reasoning.ts';
import type { Assembly } from '../../../ports/engine.ts';
import type { ContextSnapshot } from '../../../ports/store.ts';
import type { TurnStep } from './outcome.ts';
import { toAssistant } from './tool-round.ts';

/** What the models thought before the calls of the turn so far. */
export function reasonedIn(done: readonly TurnStep[]): readonly ReasonedMessage[] {
  return done.flatMap((step) => {
    const { reasoning } = step;
    return reasoning === null ? [] : [{ message: toAssistant(step), reasoning }];
  });
}

/**
 * Drops the reasoning that does not fit beside the request, so that no message leaves the view for it. The next step
 * builds on the newest, so the oldest goes first. All of it goes if a message was edited or deleted since the request
 * before, because it may repeat what is gone.
 */
export function fitReasoning(done: TurnStep[], { measurement, snapshot }: Assembly, before: Assembly | null): void {
  if (done.every(({ reasoning }) => reasoning === null)) return;
  const isCurrent = before === null || !isTouched(snapshot, before.snapshot);
  let roomTokens = isCurrent ? measurement.window - measurement.used : Number.NEGATIVE_INFINITY;
  for (let at = done.length - 1; at >= 0; at -= 1) {
    const step = done[at];
    if (step === undefined || step.reasoning === null) continue;
    roomTokens -= step.reasoning.tokens;
    if (roomTokens < 0) done[at] = { ...step, reasoning: null };
  }
}

/** Whether a message was edited or deleted in between. Times are only compared with themselves: a clock may be set. */
function isTouched({ tail }: ContextSnapshot, before: ContextSnapshot): boolean {
  if (tail === before.tail) return false;
  const known = new Map(before.tail.map((entry) => [entry.seq, entry]));
  return tail.some(({ seq, editedAt, redactedAt }) => {
    const was = known.get(seq);
    return was !== undefined && (was.editedAt !== editedAt || was.redactedAt !== redactedAt);
  });
}

/** Drops all reasoning that the model was sent. Returns false if there was none. */
export function dropReasoning(done: TurnStep[], { model }: Pick<Reasoning, 'model'>): boolean {
  let isDropped = false;
  for (const [at, step] of done.entries()) {
    if (step.reasoning?.model !== model) continue;
    done[at] = { ...step, reasoning: null };
    isDropped = true;
  }
  return isDropped;
}
