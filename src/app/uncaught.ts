import { describe } from '../domain/errors.ts';
import { describeFailure, placeIn } from '../plugins/failure-place.ts';
import type { LoadedPlugin } from '../plugins/load.ts';
import type { Events } from '../ports/events.ts';
import type { Log } from '../ports/log.ts';

/** An error that nothing caught: the rejection of a promise, or an exception outside of any promise. */
export interface Uncaught {
  readonly kind: 'rejection' | 'exception';
  readonly error: unknown;
}

interface Reporting {
  readonly plugins: readonly Pick<LoadedPlugin, 'ownName' | 'path' | 'shown'>[];
  readonly events: Events;
  readonly log: Log;
}

/**
 * Reports the error, with the plugin and line that it came from if its stack contains them. An exception ends the
 * process, so it is written to the log directly.
 */
export function reportUncaught({ kind, error }: Uncaught, { plugins, events, log }: Reporting): void {
  const what = kind === 'rejection' ? 'a promise that nothing awaited was rejected' : 'an exception ended the process';
  const message = `${what}: ${causeOf(error, plugins)}`;
  if (kind === 'exception') log.error('process.failed', { cause: message });
  else events.emit({ kind: 'error.internal', conversation: null, message });
}

/** What is thrown may be anything, such as an object that cannot be read, and the report must not fail. */
function causeOf(error: unknown, plugins: Reporting['plugins']): string {
  try {
    const owner = plugins.find(({ path }) => placeIn(error, path) !== null);
    if (owner !== undefined) return `plugin ${owner.ownName}, ${describeFailure(error, owner)}`;
    return `${firstFrame(error) ?? UNKNOWN}: ${describe(error)}`;
  } catch {
    return `${UNKNOWN}: ${typeof error}`;
  }
}

const UNKNOWN = 'source unknown';

const MAX_STACK_LINES = 30;
const MAX_LINE = 1_000;

/** The first place in the stack that is not in Node.js itself. */
function firstFrame(error: unknown): string | null {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return null;
  const frames = error.stack.split('\n', MAX_STACK_LINES).map((line) => line.slice(0, MAX_LINE).trim());
  const own = frames.find((line) => line.startsWith('at ') && !line.includes('node:') && line.includes(':'));
  return own?.slice('at '.length) ?? null;
}
