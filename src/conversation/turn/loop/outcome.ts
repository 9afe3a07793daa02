import type { ToolResultPart } from '../../../domain/message.ts';
import type { Reasoning } from '../../../models/reasoning.ts';
import type { TurnFailure } from '../../../ports/events.ts';
import type { ToolCall } from '../../../ports/model.ts';

/** Why the text of an answer ends too early. */
export type Cut = 'length' | 'filtered';

export type TurnOutcome = AnsweredTurn | FailedTurn;

export interface AnsweredTurn {
  readonly kind: 'answered';
  readonly text: string;
  /** Why the text is not whole; null if it is. */
  readonly cut: Cut | null;
  readonly steps: readonly TurnStep[];
}

export interface FailedTurn {
  readonly kind: 'failed';
  readonly reason: TurnFailure;
  readonly message: string;
  readonly steps: readonly TurnStep[];
}

/** A finished round of the tool loop: the model's text and calls, and their results. */
export interface TurnStep {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly results: readonly ToolResultPart[];
  /** What the model thought before the calls; null if it wants nothing back, or if there is no room for it. */
  readonly reasoning: Reasoning | null;
}
