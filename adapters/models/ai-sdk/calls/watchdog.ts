import { startAwakeTimer } from '../../../../src/adapter-kit.ts';

/** How long a stream may be silent. The caller's limit for the whole call comes with its signal. */
export interface StallLimits {
  /** Until the first part, because a local model may still be loading, and while a model reasons without a word. */
  readonly firstPartMs: number;
  readonly nextPartMs: number;
}

/** Ends a call that its caller has aborted, or whose stream is silent. Time that the caller takes does not count. */
export function createWatchdog(limits: StallLimits, caller: AbortSignal) {
  const own = new AbortController();
  let stop = (): void => undefined;
  const arm = (limitMs: number) => {
    stop = startAwakeTimer({ ms: limitMs, keepsAlive: true }, () => {
      own.abort(new DOMException(`no data for ${limitMs / 1000} s`, 'TimeoutError'));
    });
  };
  arm(limits.firstPartMs);
  return {
    signal: AbortSignal.any([caller, own.signal]),
    /** Why the call was ended from this side, or null if it was not. */
    reason(): unknown {
      if (caller.aborted) return isTimeout(caller.reason) ? caller.reason : new DOMException('stopped', 'AbortError');
      return own.signal.aborted ? own.signal.reason : null;
    },
    /**
     * The same parts, with the limit running only while waiting for one. After some, the next one may take as long as
     * the first.
     */
    async *guard<Part>(parts: AsyncIterable<Part>, isBeforeSilence: (part: Part) => boolean): AsyncGenerator<Part> {
      for await (const part of parts) {
        stop();
        yield part;
        arm(isBeforeSilence(part) ? limits.firstPartMs : limits.nextPartMs);
      }
    },
    /** Stops the timer and, if the caller left early, the request. */
    end() {
      stop();
      own.abort(new DOMException('the stream was abandoned', 'AbortError'));
    },
  };
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}
