/** One line of input, or why it is invalid. */
export type InputLine =
  | { readonly kind: 'line'; readonly number: number; readonly text: string }
  | { readonly kind: 'refused'; readonly number: number; readonly problem: string };

/** How `readLines` reads. */
export interface LineOptions {
  /** Longer lines are rejected without being kept in memory. */
  readonly maxBytes: number;
}

const LINE_FEED = 10;

/** Splits bytes into lines, each decoded strictly. A last line without a line break counts. */
export async function* readLines(input: AsyncIterable<unknown>, options: LineOptions): AsyncGenerator<InputLine> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 1;
  let line = createLine(options);
  for await (const chunk of input) {
    let bytes = toBytes(chunk);
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED)) {
      line.add(bytes.subarray(0, end));
      yield finish(line, { number, decoder, options });
      number += 1;
      line = createLine(options);
      bytes = bytes.subarray(end + 1);
    }
    line.add(bytes);
  }
  if (line.length > 0) yield finish(line, { number, decoder, options });
}

interface Line {
  add(bytes: Uint8Array): void;
  bytes(): Uint8Array;
  readonly length: number;
}

function createLine({ maxBytes }: LineOptions): Line {
  const chunks: Uint8Array[] = [];
  let length = 0;
  return {
    add(bytes) {
      length += bytes.length;
      if (length <= maxBytes) chunks.push(bytes);
      else chunks.length = 0;
    },
    bytes: () => Buffer.concat(chunks),
    get length() {
      return length;
    },
  };
}

function finish(
  line: Line,
  {
    number,
    decoder,
    options,
  }: {
    readonly number: number;
    readonly decoder: { decode(bytes: Uint8Array): string };
    readonly options: LineOptions;
  },
): InputLine {
  if (line.length > options.maxBytes) {
    const problem = `is ${megabytes(line.length)} long, the limit is ${megabytes(options.maxBytes)}`;
    return { kind: 'refused', number, problem };
  }
  try {
    return { kind: 'line', number, text: decoder.decode(line.bytes()).replace(/\r$/, '') };
  } catch {
    return { kind: 'refused', number, problem: 'is not valid UTF-8' };
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function toBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  return Buffer.from(String(chunk), 'utf8');
}
