import type { Readable, Writable } from 'node:stream';

/** The streams of a terminal channel, and how to use them. */
export interface TerminalStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly errors: Writable;
  /** Lines are edited and replies grow; otherwise the streams are read and written line by line. */
  readonly isTTY: boolean;
  readonly color: boolean;
}

/** The parts of `process` that decide how a terminal is used. */
interface TerminalProcess {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; hasColors?(): boolean };
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The streams of the process. A terminal that says it is dumb, such as a shell in Emacs, counts as a pipe: it would show
 * control sequences as text.
 */
export function terminalStreams({ stdin, stdout, stderr, env }: TerminalProcess = process): TerminalStreams {
  const isTTY = stdin.isTTY === true && stdout.isTTY === true && env['TERM'] !== 'dumb';
  const color = isTTY && stdout.hasColors?.() === true && !env['NO_COLOR'];
  return { input: stdin, output: stdout, errors: stderr, isTTY, color };
}
