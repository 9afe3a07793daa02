import type { Log } from '../../../../src/adapter-kit.ts';
import { createPauses } from './pauses.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import { runSession } from './session.ts';
import type { Ending, GatewaySessionOptions, Session } from './socket.ts';

export interface ShardOptions
  extends Pick<GatewaySessionOptions, 'clock' | 'chance' | 'identity' | 'mayIdentify' | 'listener'> {
  readonly id: number;
  readonly log: Log;
  /** The gateway URL for new sessions, which may change. */
  readonly url: () => string;
  /** Whether to use the URL that the server names for resuming. */
  readonly followsResumeUrl: boolean;
  /** Whether few identifications are left for the day. */
  readonly isScarce: () => boolean;
  readonly lost: (ending: Ending) => void;
  readonly refused: (refusal: Refusal) => void;
}

/**
 * One shard: consecutive connections, each opened only after the socket of the previous one is closed. So there is
 * never more than one session, whatever fails.
 */
export interface Shard {
  /** Resolves when the shard is ready for the first time, or has ended. */
  start(): Promise<void>;
  /** Resolves when nothing is open any more. */
  stop(): Promise<void>;
}

export function createShard(options: ShardOptions): Shard {
  const over = new AbortController();
  const ready = Promise.withResolvers<void>();
  let running: Promise<void> | null = null;
  const listener = {
    ...options.listener,
    ready(data: Parameters<GatewaySessionOptions['listener']['ready']>[0]) {
      options.listener.ready(data);
      ready.resolve();
    },
  };
  return {
    async start() {
      running ??= run({ ...options, listener }, over.signal).finally(ready.resolve);
      await ready.promise;
    },
    async stop() {
      over.abort();
      await running;
    },
  };
}

async function run(options: ShardOptions, signal: AbortSignal): Promise<void> {
  const { clock, chance, identity, mayIdentify, listener, log, id } = options;
  const pauses = createPauses(chance);
  let session: Session | null = null;
  let unanswered = 0;
  while (!signal.aborted) {
    const base = (options.followsResumeUrl ? session?.resumeUrl : null) ?? options.url();
    const ending: Ending = await runSession({
      clock,
      chance,
      identity,
      mayIdentify,
      listener,
      signal,
      url: addressOf(base),
      resumed: session,
    });
    if (signal.aborted) return;
    options.lost(ending);
    const refusal = refusalOf(ending.code ?? 0);
    if (refusal !== null) return options.refused(refusal);
    unanswered = ending.isResumeUnanswered ? unanswered + 1 : 0;
    session = resumable(ending, unanswered);
    const pauseMs = pauses.after(ending, options.isScarce());
    const fields = { shardId: id, code: ending.code, cause: ending.cause, nextTryInMs: pauseMs };
    // Servers ask for a new connection now and then, and connections break.
    if (ending.readyMs > 0) log.info('The connection to Discord was lost', fields);
    else log.warn('The connection to Discord keeps failing', fields);
    await clock.sleep(pauseMs, { signal }).catch(() => undefined);
  }
}

/** After this many attempts to resume without a response, the session is given up. */
const MAX_UNANSWERED = 2;

/** After a failure the session is resumed at the default URL, because the one named by its server may be wrong. */
function resumable({ session, readyMs }: Ending, unanswered: number): Session | null {
  if (session === null || unanswered >= MAX_UNANSWERED) return null;
  return readyMs > 0 ? session : { ...session, resumeUrl: null };
}

function addressOf(base: string): string {
  const url = URL.parse(base);
  // The attempt to connect reports an invalid URL.
  if (url === null) return base;
  url.searchParams.set('v', '10');
  url.searchParams.set('encoding', 'json');
  return url.href;
}
