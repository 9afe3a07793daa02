import type { Clock } from '../../ports/clock.ts';
import type { Claim, ConversationStore } from '../../ports/store.ts';
import { type Limit, limitWork } from './limit.ts';

/** A claim that is kept alive while work runs. `signal` aborts when the claim is lost or the work is asked to end. */
export type Lease = Pick<Limit, 'signal'> & Disposable;

export interface LeaseOptions {
  readonly conversations: Pick<ConversationStore, 'renew'>;
  readonly clock: Clock;
  readonly work: 'reply' | 'maintenance';
  readonly leaseMs: number;
  /** Ends the work from outside. */
  readonly signal: AbortSignal;
}

/** Renews the claim three times within each lease. A failed renewal is retried; only a refusal loses the claim. */
export function holdLease(options: LeaseOptions, claim: Claim): Lease {
  const lost = limitWork(options.signal);
  const done = new AbortController();
  const everyMs = options.leaseMs / 3;
  const renew = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await options.clock.sleep(everyMs, { signal: done.signal });
      const until = options.clock.now() + options.leaseMs;
      const kept = await options.conversations.renew(options.work, claim, until).catch(() => claim);
      if (kept === null) return lost.abort(new Error(`The ${options.work} claim was lost.`));
    }
  };
  // It ends only through the loss above, or by aborting the sleep, which releases the lease.
  renew().catch(() => undefined);
  return {
    signal: lost.signal,
    [Symbol.dispose]() {
      lost[Symbol.dispose]();
      // Ending the sleep takes longer than all the rest, and a reply is posted first.
      setImmediate(() => done.abort(LET_GO));
    },
  };
}

/** Created once, because creating an error captures a stack, and every turn releases a lease. */
const LET_GO = new Error('The lease was released.');
