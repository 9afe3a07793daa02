import type { ModelRequest } from '../../../src/adapter-kit.ts';

/** Every window holds this much. */
const MIN_CHARACTERS = 12_000;

/**
 * The sizes of the requests that a model has accepted. A refusal that nobody can read is probably one for size if the
 * request is larger than any of them.
 */
export function createSizes() {
  let largest = 0;
  return {
    accepted(request: ModelRequest): void {
      largest = Math.max(largest, sizeOf(request));
    },
    isLargest(request: ModelRequest): boolean {
      return largest > 0 && sizeOf(request) > Math.max(largest, MIN_CHARACTERS);
    },
  };
}

function sizeOf({ system, messages, tools }: ModelRequest): number {
  return JSON.stringify([system, messages, tools]).length;
}
