import { fittedOf } from '../../../context/fit/fit.ts';
import { newestThatFits } from '../../../context/fit/waiting.ts';
import { StrataError } from '../../../domain/errors.ts';
import type { AssembleRequest, Assembly, ContextEngine } from '../../../ports/engine.ts';

/**
 * The engine's request. Throws `TOO_MANY_WAITING` before the first call; later steps add to what that one has shown. An
 * engine that does not build its requests here decides by itself what it shows.
 */
export async function wholeView(engine: ContextEngine, request: AssembleRequest): Promise<Assembly> {
  const whole = await engine.assemble(request);
  const fitted = request.steps.length === 0 ? fittedOf(whole) : null;
  const newest = fitted === null ? null : newestThatFits(fitted);
  if (newest === null) return whole;
  const conversation = request.snapshot.conversation.key;
  throw new StrataError('TOO_MANY_WAITING', { conversation, readUpto: newest.seq });
}
