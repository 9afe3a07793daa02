import type { Driver } from './driver.ts';
import { reasonOf, type Trouble } from './trouble.ts';

/**
 * Reports what a server refuses only workers, such as a command that they alone need: jobs wait long then, while
 * everything else is answered.
 */
export interface WorkerWatch {
  failed(error: unknown): void;
  current(): string | null;
}

/** One refusal may be that of a server which starts or is replaced. */
const SUSPECT_MS = 4_000;
/** The worker tries more often. */
const QUIET_MS = 20_000;

export function createWorkerWatch({
  trouble,
  where,
  now,
}: {
  readonly trouble: Trouble;
  readonly where: Driver['where'];
  readonly now: () => number;
}): WorkerWatch {
  let refused: { readonly since: number; readonly last: number } | null = null;
  const forget = () => {
    if (refused === null || now() - refused.last <= QUIET_MS) return;
    refused = null;
    trouble.over();
  };
  return {
    failed(error) {
      if (!isRefusal(error)) return;
      forget();
      refused = { since: refused?.since ?? now(), last: now() };
      if (now() - refused.since < SUSPECT_MS) return;
      trouble.met(`${where} refuses what workers need (${reasonOf(error)}): summaries are late, and replies continue.`);
    },
    current() {
      forget();
      return trouble.current();
    },
  };
}

/** The server's own answer, on Redis or on Postgres. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && (error.name === 'ReplyError' || 'severity' in error);
}
