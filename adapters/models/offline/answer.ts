import type { JsonValue } from '../../../src/adapter-kit.ts';

/** What the model says in one step. */
export interface Answer {
  readonly text: string;
  readonly calls: readonly PlannedCall[];
}

export interface PlannedCall {
  readonly tool: string;
  readonly input: JsonValue;
}

export function say(text: string): Answer {
  return { text, calls: [] };
}
