import { fittedOf } from '../context/fit.ts';
import { newestThatFits } from '../context/waiting.ts';
import type { Entry } from '../domain/message.ts';
import type { AssembleRequest, Assembly, ContextEngine } from '../ports/engine.ts';

/** The turn has read more waiting messages than its request can show: it starts again, up to an earlier one. */
export class TooManyWaiting extends Error {
  readonly newest: Entry;

  constructor(newest: Entry) {
    super(`The request does not show all waiting messages; those up to #${newest.seq} should fit.`);
    this.name = 'TooManyWaiting';
    this.newest = newest;
  }
}

/**
 * The engine's request. Throws `TooManyWaiting` before the first call; later steps add to what that one has shown. An
 * engine that does not build its requests here decides by itself what it shows.
 */
export async function wholeView(engine: ContextEngine, request: AssembleRequest): Promise<Assembly> {
  const whole = await engine.assemble(request);
  const fitted = request.steps.length === 0 ? fittedOf(whole) : null;
  const newest = fitted === null ? null : newestThatFits(fitted);
  if (newest !== null) throw new TooManyWaiting(newest);
  return whole;
}
