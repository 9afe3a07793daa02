import type { Readable } from 'node:stream';

export type { GlobalOptions } from '../app/app.ts';

/** A stream that text is written to. `isTTY` is true at a terminal. */
export interface TextOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** What every CLI command is given instead of the process itself. */
export interface CliContext {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** For data: with `--json` nothing else goes here. */
  readonly stdout: TextOutput;
  /** For notices, progress and errors. */
  readonly stderr: TextOutput;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first SIGINT or SIGTERM: end soon and cleanly. */
  readonly signal: AbortSignal;
}

/** 0 done, 1 failed, 2 wrong use. */
export type ExitCode = 0 | 1 | 2;
