import { ModelError, type ModelPart, type ModelRequest } from '../../../../src/adapter-kit.ts';
import { withoutReasoning } from './kept.ts';

/** Every window holds this much. */
const MIN_CHARACTERS = 12_000;

/**
 * The sizes of the requests that a model has answered. If a request is larger than all of them, its size is the probable
 * cause of a refusal without a known reason, and of an answer without content.
 */
export function createSizes(model: string) {
  let largest = 0;
  const isLargest = (request: ModelRequest) => largest > 0 && sizeOf(request) > Math.max(largest, MIN_CHARACTERS);
  return {
    isLargest,
    /** The same parts. Throws instead of an end if such an answer has no content. */
    async *watch(parts: AsyncIterable<ModelPart>, request: ModelRequest): AsyncGenerator<ModelPart> {
      let isEmpty = true;
      for await (const part of parts) {
        if (hasContent(part)) isEmpty = false;
        if (isEmpty && part.kind === 'finish' && ENDS.has(part.reason) && isLargest(request)) {
          throw new ModelError({ model, reason: 'overflow', detail: 'the answer to its largest request was empty' });
        }
        yield part;
      }
      if (!isEmpty) largest = Math.max(largest, sizeOf(request));
    },
  };
}

const ENDS: ReadonlySet<string> = new Set(['stop', 'other']);

/** Reasoning is content, although nobody sees it. */
function hasContent(part: ModelPart): boolean {
  if (part.kind === 'finish') return (part.usage.reasoningTokens ?? 0) > 0;
  return part.kind === 'call' || (part.kind !== 'retract' && part.text.trim() !== '');
}

/** Without reasoning: what is encrypted has more characters than it fills of the window, and is left out if refused. */
function sizeOf(request: ModelRequest): number {
  const { system, messages, tools } = withoutReasoning(request);
  return JSON.stringify([system, messages, tools]).length;
}
