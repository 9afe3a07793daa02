import { basename } from 'node:path';
import { z } from 'zod';
import { describe, StrataError } from '../domain/errors.ts';
import { faultText } from '../util/errors/faults.ts';
import { openInput } from '../util/files/open-input.ts';
import { checkFile } from '../util/files/text-file.ts';
import type { InputLine } from '../util/text/lines.ts';
import { MAX_TIME_MS } from '../util/time/time.ts';
import { inputLines } from './input-lines.ts';

/** One message of a file to import or replay. */
export interface FileMessage {
  readonly id: string;
  readonly author: string;
  readonly text: string;
  /** Epoch milliseconds; null if the file has none. */
  readonly at: number | null;
  readonly role: 'user' | 'assistant';
}

const MAX_LINE_BYTES = 1_000_000;

const MAX_NAME_LENGTH = 200;

const expected = (what: string) => ({ error: `expected ${what}` });
const aName = expected(`a text of 1 to ${MAX_NAME_LENGTH} characters`);
const anId = expected(`a text of 1 to ${MAX_NAME_LENGTH} characters, or a whole number`);
const aTime = expected('a time such as 2026-11-20T09:00:00Z, or milliseconds since 1970');

// Zod reports the union or one of its parts.
const id = z.union([z.string().min(1, anId).max(MAX_NAME_LENGTH, anId), z.int(anId).transform(String)], anId);
const time = z.union(
  [z.iso.datetime({ offset: true, local: true, ...aTime }), z.int(aTime).min(0, aTime).max(MAX_TIME_MS, aTime)],
  aTime,
);

const schema = z.object(
  {
    id,
    author: z.string(aName).min(1, aName).max(MAX_NAME_LENGTH, aName),
    text: z.string(expected('a text')),
    at: time.nullish(),
    role: z.enum(['user', 'assistant'], expected('user or assistant')).default('user'),
  },
  expected('an object'),
);

/**
 * Reads a file of any size, one line at a time, until the signal ends it. Throws `IMPORT_INVALID` at the first bad line.
 */
export async function* readMessages(file: string, signal: AbortSignal): AsyncGenerator<FileMessage> {
  for await (const line of linesOf(file, signal)) {
    const fail = failAt(file, line.number);
    if (line.kind === 'refused') fail(`the line ${line.problem}`);
    else if (line.text.trim() !== '') yield parseMessage(line.text, fail);
  }
}

/** The file's name without its extension, used as the channel's name. */
export function channelNameOf(file: string): string {
  return basename(file).replace(/(?:\.messages)?\.jsonl?$/i, '') || 'replay';
}

type Fail = (problem: string, cause?: unknown) => never;

function failAt(file: string, line: number): Fail {
  return (problem, cause) => {
    throw new StrataError('IMPORT_INVALID', { file, line, problem }, { cause });
  };
}

function parseMessage(text: string, fail: Fail): FileMessage {
  const parsed = schema.safeParse(parseJson(text, fail));
  if (!parsed.success) return fail(problemOf(parsed.error));
  const { at, ...message } = parsed.data;
  return { ...message, at: at === null || at === undefined ? null : timeOf(at) };
}

function parseJson(text: string, fail: Fail): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return fail('the line is not JSON', error);
  }
}

/** A time without a zone counts as UTC, so that a file means the same on every machine. */
function timeOf(at: string | number): number {
  if (typeof at === 'number') return at;
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(at) ? at : `${at}Z`);
}

function problemOf(error: z.ZodError): string {
  const [first] = error.issues;
  return first === undefined ? 'the line is not a message' : faultText(first);
}

/** Throws `USAGE` if the file can't be read; before a command creates anything for its messages. */
export function checkInput(file: string): void {
  try {
    checkFile(file, { pipes: true });
  } catch (error) {
    throw unreadable(file, error);
  }
}

async function* linesOf(file: string, signal: AbortSignal): AsyncGenerator<InputLine> {
  try {
    yield* inputLines(openInput(file), { maxBytes: MAX_LINE_BYTES, signal });
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, cause: unknown): StrataError {
  return new StrataError('USAGE', { problem: `Cannot read ${file}: ${describe(cause)}` }, { cause });
}
