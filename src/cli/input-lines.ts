import { addAbortSignal, type Readable } from 'node:stream';
import { type InputLine, readLines } from '../util/lines.ts';

/** The lines of an input, until it or the command ends. Without the signal, a terminal would be read until the next line. */
export async function* inputLines(
  input: Readable,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): AsyncGenerator<InputLine> {
  if (!signal.aborted) addAbortSignal(signal, input);
  try {
    yield* readLines(input, { maxBytes });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
