import type { Readable } from 'node:stream';

export type { GlobalOptions } from '../app/app.ts';

/** An output stream. `isTTY` is true in a terminal. */
export interface TextOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** What CLI commands receive instead of the process itself. */
export interface CliContext {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** For data: with `--json` it receives nothing else. */
  readonly stdout: TextOutput;
  /** For notices, progress and errors. */
  readonly stderr: TextOutput;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first SIGINT or SIGTERM: end soon and cleanly. */
  readonly signal: AbortSignal;
}

/** 0 success, 1 failure, 2 wrong usage. */
export type ExitCode = 0 | 1 | 2;
