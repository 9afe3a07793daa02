import { addAbortSignal, type Readable } from 'node:stream';
import { StrataError } from '../domain/errors.ts';
import { type InputLine, readLines } from '../util/text/lines.ts';

const MAX_QUESTION_BYTES = 100_000;

/** The questions in an input, one on each line that is not blank. Throws `USAGE` for a line that cannot be read. */
export async function* questionsIn(input: Readable, signal: AbortSignal): AsyncGenerator<string> {
  for await (const line of inputLines(input, { maxBytes: MAX_QUESTION_BYTES, signal })) {
    if (line.kind === 'refused') throw new StrataError('USAGE', { problem: `Line ${line.number} ${line.problem}.` });
    const question = line.text.trim();
    if (question !== '') yield question;
  }
}

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
