import type { AssembleRequest, Assembly } from '../../ports/engine.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import { createPromptLibrary } from '../../prompts/library.ts';
import { createFixedPrefixBuilder, type FixedPrefixBuilder } from '../view/fixed-prefix.ts';
import { addPassages, withoutPassages } from './add-passages.ts';
import { toAssembly } from './fit.ts';
import { shortenToFit } from './shorten-to-fit.ts';

let kept: FixedPrefixBuilder | null = null;

/** Uses the built-in template of summaries, because an engine of a program exists before its bot. */
function builder(): FixedPrefixBuilder {
  kept ??= createFixedPrefixBuilder({ prompts: createPromptLibrary(), agents: { agent: () => null } });
  return kept;
}

/**
 * Builds the request of an engine from the messages that it wants to show: with labels, calls next to their results,
 * sections and passages. If it is too large, the oldest messages leave it first, and then long texts become shorter.
 * Throws `WINDOW_TOO_SMALL`. Default for `tail`: the whole tail of the snapshot; for `stack`: no summaries.
 *
 * @example
 * const newest = defineEngine({
 *   id: 'newest',
 *   assemble: async (request) => assembleView(request, { tail: request.snapshot.tail.slice(-20) }),
 * });
 */
export function assembleView(
  request: AssembleRequest,
  { tail = request.snapshot.tail, stack = [] }: Partial<Pick<ContextSnapshot, 'stack' | 'tail'>> = {},
): Assembly {
  const { snapshot, profile } = request;
  const entries = snapshot.omitted.entries + snapshot.tail.length - tail.length;
  const omitted = entries === 0 ? snapshot.omitted : { entries, tokens: 0 };
  const shown = { ...withoutPassages(request), snapshot: { ...snapshot, tail, stack, omitted } };
  const fitted = shortenToFit(builder(), shown, profile.windowTokens);
  return toAssembly(addPassages(builder(), fitted, request), snapshot);
}
