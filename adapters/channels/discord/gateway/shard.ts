import type { Log } from '../../../../src/adapter-kit.ts';
import { type Refusal, refusalOf } from '../refusal.ts';
import type { Ending, GatewaySessionOptions, Session } from './line.ts';
import { createPauses } from './pauses.ts';
import { runSession } from './session.ts';

export interface ShardOptions
  extends Pick<GatewaySessionOptions, 'clock' | 'chance' | 'identity' | 'mayIdentify' | 'listener'> {
  readonly id: number;
  readonly log: Log;
  /** Where a new session begins. */
  readonly url: string;
  /** Whether the address that the server names for resuming is used. */
  readonly followsResumeUrl: boolean;
  readonly lost: (ending: Ending) => void;
  readonly refused: (refusal: Refusal) => void;
}

/**
 * One shard: connections one after the other, each begun only when the socket of the one before is closed. So there is
 * never more than one session, whatever fails.
 */
export interface Shard {
  /** Resolves when the shard is ready for the first time, or when it is over. */
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
    const base = options.followsResumeUrl ? (session?.resumeUrl ?? options.url) : options.url;
    const ending: Ending = await runSession({
      ...{ clock, chance, identity, mayIdentify, listener, signal },
      ...{ url: addressOf(base), resumed: session },
    });
    if (signal.aborted) return;
    options.lost(ending);
    const refusal = refusalOf(ending.code ?? 0);
    if (refusal !== null) return options.refused(refusal);
    unanswered = ending.isResumeUnanswered ? unanswered + 1 : 0;
    session = resumable(ending, unanswered);
    const pauseMs = pauses.after(ending);
    const fields = { shardId: id, code: ending.code, cause: ending.cause, nextTryInMs: pauseMs };
    // Now and then a server asks for a new connection, and a line breaks.
    if (ending.readyMs > 0) log.info('The connection to Discord was lost', fields);
    else log.warn('The connection to Discord keeps failing', fields);
    await clock.sleep(pauseMs, { signal }).catch(() => undefined);
  }
}

/** As often as nobody answers the wish to resume in a row, the session is given up. */
const MAX_UNANSWERED = 2;

/** After a failure the session is looked for at the first address: the one that its server named may be wrong. */
function resumable({ session, readyMs }: Ending, unanswered: number): Session | null {
  if (session === null || unanswered >= MAX_UNANSWERED) return null;
  return readyMs > 0 ? session : { ...session, resumeUrl: null };
}

function addressOf(base: string): string {
  const url = URL.parse(base);
  // What is no address is reported by who tries to connect to it.
  if (url === null) return base;
  url.searchParams.set('v', '10');
  url.searchParams.set('encoding', 'json');
  return url.href;
}
