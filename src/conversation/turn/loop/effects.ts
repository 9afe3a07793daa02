import type { ToolResultPart } from '../../../domain/message.ts';
import type { ReasonedMessage } from '../../../models/reasoning.ts';
import type { OnText, Step } from '../../../models/step.ts';
import type { Assembly } from '../../../ports/engine.ts';
import type { ModelMessage, ModelRequest, ToolCall } from '../../../ports/model.ts';
import type { Limit } from '../../../util/async/limit.ts';

/** What the loop needs from outside, by owner. All effects are injected; the loop only decides. */
export interface TurnOptions extends TurnLimits, RequestEffects, ModelEffects, ToolEffects {}

export interface TurnLimits {
  readonly purpose: ModelRequest['purpose'];
  readonly modelId: string;
  readonly maxSteps: number;
  readonly maxOutputTokens: number;
}

/** The next request, and what makes it smaller. */
export interface RequestEffects {
  /** The gate: the next request, measured and within the window, ending with the turn's own steps. */
  assemble(steps: readonly ModelMessage[]): Promise<Assembly>;
  /** The provider rejected the size: frees space once. Returns false if nothing could be freed. */
  makeRoom(): Promise<boolean>;
  /**
   * The provider's filter refused the request: the next one leaves out more of the past. `nothing`: there is no more to
   * leave out. `unable`: the engine does not report what its request consists of.
   */
  leaveOut(refused: Assembly): 'less' | 'nothing' | 'unable';
}

export interface ModelEffects {
  /** Calls the model once. */
  ask(request: ModelRequest, options: AskOptions): Promise<Step>;
  /** Combines the time limit of one call and the end of the turn in one signal; disposed when the call ends. */
  limitCall(): Limit;
  /** Waits before a retry. Rejects if the turn must end. */
  pause(ms: number): Promise<void>;
  onDraft(text: string): void;
}

export interface AskOptions {
  /** What the request was made from. */
  readonly assembly: Assembly;
  /** What models thought before their calls in this turn. */
  readonly reasoned: readonly ReasonedMessage[];
  readonly signal: AbortSignal;
  readonly onText: OnText;
}

export interface ToolEffects {
  /** Runs a call of one of these tools. */
  callTool(call: ToolCall, offered: Assembly['tools']): Promise<ToolResultPart>;
  /** Nothing of these results is sent or stored, nor what came with them. */
  withhold(results: readonly ToolResultPart[]): void;
}
