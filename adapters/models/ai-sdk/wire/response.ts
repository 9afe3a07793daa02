import type { z } from 'zod';
import { endsWithin } from '../../../../src/adapter-kit.ts';
import { parseJson } from './parse-json.ts';

/** Even with every token in its own event, the longest answers of current models take a quarter of this. */
const MAX_RESPONSE_BYTES = 32_000_000;

type Chunks = AsyncIterable<Uint8Array>;

/** Ends a response that is larger than any answer could be. */
export function withByteLimit(send: typeof fetch): typeof fetch {
  return throughBody(send, async function* (chunks) {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.byteLength;
      if (bytes > MAX_RESPONSE_BYTES) throw new Error(`the response is longer than ${MAX_RESPONSE_BYTES} bytes`);
      yield chunk;
    }
  });
}

/** How the lines of one response are read. */
export interface LineReader {
  change(line: string): string;
  /** Whether the answer is complete with this line. */
  isLast(line: string): boolean;
  /**
   * How long to wait for more after this line: for ever until the answer says that it has ended. Null for a line that
   * says nothing. Default: for ever.
   */
  restMs?(line: string): number | null;
  /** What is missing at the end of a complete answer. Default: nothing. */
  missing?(): string;
}

/** Begins the lines of a stream that have data. */
export const DATA = 'data:';

/** A line that nobody reads. */
const COMMENT = ':';

export function dataOf(line: string): unknown {
  return parseJson(line.slice(DATA.length));
}

export function dataLine(value: unknown): string {
  return `${DATA} ${JSON.stringify(value)}`;
}

/** The line with its data in the form of the schema. One that cannot be read stays as it is. */
export function reshaped(line: string, schema: z.ZodType): string {
  const read = schema.safeParse(dataOf(line)).data;
  return read === undefined ? line : dataLine(read);
}

/** After the reason for the end, counts may follow. Some servers then send neither a last line nor the end. */
const AFTER_END_MS = 5000;
const AFTER_COUNTS_MS = 500;

interface EndSigns {
  /** In a line with the reason for the end. */
  readonly ended: RegExp;
  /** In a line with which the answer goes on after all; null if none does. */
  readonly goesOn: RegExp | null;
  readonly counts: RegExp;
}

/** `restMs` of a reader, by signs in the lines of one response. */
export function createRest({ ended, goesOn, counts }: EndSigns): (line: string) => number | null {
  let isEnded = false;
  return (line) => {
    if (!line.startsWith(DATA)) return null;
    isEnded = ended.test(line) || (isEnded && goesOn?.test(line) !== true);
    if (!isEnded) return Number.POSITIVE_INFINITY;
    return counts.test(line) ? AFTER_COUNTS_MS : AFTER_END_MS;
  };
}

/**
 * Every line of a response as changed by the reader that `open` returns for it, up to the last one; the response ends
 * with an error that this reader throws. An empty line at the end completes the last event of a server that leaves it out.
 */
export function withLines(send: typeof fetch, open: () => LineReader): typeof fetch {
  return throughBody(send, async function* (chunks) {
    const reader = open();
    const encoder = new TextEncoder();
    for await (const lines of untilLast(wholeLines(chunks), reader))
      yield encoder.encode(lines.map((line) => `${isEmpty(line) ? COMMENT : reader.change(line)}\n`).join(''));
    yield encoder.encode(`\n${reader.missing?.() ?? ''}`);
  });
}

/** Proxies keep a connection open with it. A provider package takes it for an event that it cannot read. */
function isEmpty(line: string): boolean {
  return line.startsWith(DATA) && line.slice(DATA.length).trim() === '';
}

/** How long a server has to close the response after its last line. Only a closed one leaves its connection for others. */
const CLOSING_MS = 500;

type Groups = AsyncGenerator<readonly string[]>;

/** Some servers and proxies never close the response. The end of the call then does. */
async function* untilLast(groups: Groups, { isLast, restMs }: LineReader): Groups {
  let isEnded = false;
  let endAt = Number.POSITIVE_INFINITY;
  try {
    for (let lines = await nextOf(groups, endAt); lines !== null; lines = await nextOf(groups, endAt)) {
      const last = lines.findIndex(isLast);
      yield last === -1 ? lines : lines.slice(0, last + 1);
      const waits = lines.flatMap((line) => restMs?.(line) ?? []);
      endAt = waits.length === 0 ? endAt : performance.now() + (waits.at(-1) ?? 0);
      isEnded = last !== -1 || endAt !== Number.POSITIVE_INFINITY;
      if (last === -1) continue;
      await endsWithin(drained(groups), CLOSING_MS);
      return;
    }
  } finally {
    // Returning waits for what is being read.
    if (!isEnded) await groups.return(undefined);
  }
}

/** Null at the end. Once an answer says that it has ended, it does not matter how its connection ends. */
async function nextOf(groups: Groups, endAt: number): Promise<readonly string[] | null> {
  const next = groups.next();
  const isInTime =
    endAt === Number.POSITIVE_INFINITY ||
    (await endsWithin(next, Math.max(0, endAt - performance.now())).catch(() => false));
  if (!isInTime) return null;
  const { value, done } = await next;
  return done === true ? null : value;
}

async function drained(groups: AsyncGenerator<readonly string[]>): Promise<void> {
  try {
    while ((await groups.next()).done !== true);
  } catch {
    // The answer is complete, so it does not matter how its connection ends.
  }
}

/** The lines completed by each chunk. Reads each character once, however small the chunks are. */
async function* wholeLines(chunks: Chunks): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf('\n');
    if (end === -1) {
      rest.push(text);
      continue;
    }
    const lines = `${rest.join('')}${text.slice(0, end)}`.split('\n');
    rest = [text.slice(end + 1)];
    yield lines;
  }
  const last = `${rest.join('')}${decoder.decode()}`;
  if (last !== '') yield [last];
}

function throughBody(send: typeof fetch, pass: (chunks: Chunks) => Chunks): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.ok || response.body === null) return response;
    const { status, headers } = response;
    return new Response(ReadableStream.from(pass(response.body)), { status, headers });
  };
}

/** For another body in place of a response's own. */
export function headOf({ status, headers }: Response): ResponseInit {
  const kept = new Headers(headers);
  // The body is decoded already.
  kept.delete('content-encoding');
  kept.delete('content-length');
  return { status, headers: kept };
}
