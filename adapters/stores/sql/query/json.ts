import { z } from 'zod';
import {
  type Addition,
  type Author,
  type BlobId,
  type Calibration,
  type JsonValue,
  type LossIndex,
  MAINTENANCE_OUTCOMES,
  MAINTENANCE_TRIGGERS,
  MAINTENANCE_WORK,
  type MaintenanceRun,
  MEMORY_EVENT_KINDS,
  type Memory,
  type MemoryEvent,
  type MemoryId,
  type Part,
  type PostBody,
} from '../../../../src/adapter-kit.ts';
import type { MemoryEventRow } from '../schema/tables.ts';

/** Parses stored JSON, so that a damaged row is detected here instead of deep inside a turn. */

const blobId = z.custom<BlobId>((value) => typeof value === 'string');
const part: z.ZodType<Part> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string() }),
  z.strictObject({
    kind: z.literal('attachment'),
    name: z.string(),
    mediaType: z.string(),
    sizeBytes: z.number(),
    reference: z.string(),
  }),
  z.strictObject({ kind: z.literal('tool-call'), callId: z.string(), tool: z.string(), input: z.json() }),
  z.strictObject({
    kind: z.literal('tool-result'),
    callId: z.string(),
    tool: z.string(),
    text: z.string(),
    isError: z.boolean(),
    blob: z.strictObject({ id: blobId, sizeBytes: z.number() }).nullable(),
  }),
]);
const parts = z.array(part);
const plainText = z.tuple([z.strictObject({ kind: z.literal('text'), text: z.string() })]);

const authors: z.ZodType<readonly Author[]> = z.array(
  z.strictObject({ id: z.string(), name: z.string(), kind: z.enum(['person', 'bot']) }),
);

const calibration: z.ZodType<Calibration> = z.strictObject({
  model: z.string(),
  ratio: z.number(),
  samples: z.number(),
  lastInputTokens: z.number(),
  revision: z.number(),
});

const postBody: z.ZodType<PostBody> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string() }),
  z.strictObject({ kind: z.literal('file'), name: z.string(), text: z.string() }),
  z.strictObject({
    kind: z.literal('attachment'),
    name: z.string(),
    mediaType: z.string(),
    base64: z.string(),
    text: z.string(),
  }),
]);

const extractedBy: z.ZodType<Memory['extractedBy']> = z
  .strictObject({ model: z.string(), promptHash: z.string() })
  .nullable();

const run: z.ZodType<MaintenanceRun> = z.strictObject({
  id: z.string(),
  conversationId: z.number(),
  work: z.enum(MAINTENANCE_WORK),
  trigger: z.enum(MAINTENANCE_TRIGGERS),
  fromSeq: z.number(),
  toSeq: z.number(),
  outcome: z.enum(MAINTENANCE_OUTCOMES),
  error: z.string().nullable(),
  tokensBefore: z.number(),
  tokensAfter: z.number(),
  memories: z.number(),
  model: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  startedAt: z.number(),
  durationMs: z.number(),
});

const memoryEvent: z.ZodType<MemoryEvent> = z.object({
  memoryId: z.custom<MemoryId>((value) => typeof value === 'string'),
  kind: z.enum(MEMORY_EVENT_KINDS),
  at: z.number(),
  actor: z.string(),
  detail: z.json(),
});

const lost: z.ZodType<LossIndex> = z.record(z.string(), z.array(z.int()));

const additions: z.ZodType<readonly Addition[]> = z.array(
  z.strictObject({ at: z.number(), words: z.array(z.string()) }),
);

const NOTHING_ADDED: readonly Addition[] = [];
const NOTHING_LOST: LossIndex = {};
const NO_AUTHORS: readonly Author[] = [];
const NO_PARTS: readonly Part[] = [];

/** How `writeJson` writes a single text. */
const TEXT_START = '[{"kind":"text","text":"';
const TEXT_END = '"}]';

export function readParts(text: string): readonly Part[] {
  if (text === '[]') return NO_PARTS;
  const written = unescapedText(text);
  if (written !== null) return [{ kind: 'text', text: written }];
  const value: unknown = JSON.parse(text);
  const plain = plainText.safeParse(value);
  return plain.success ? plain.data : parts.parse(value);
}

/** Most entries are one text without an escape, which appears in the JSON as it is. Null for all others. */
function unescapedText(json: string): string | null {
  const end = json.length - TEXT_END.length;
  const isText = json.startsWith(TEXT_START) && json.endsWith(TEXT_END) && !json.includes('\\');
  return isText && json.indexOf('"', TEXT_START.length) === end ? json.slice(TEXT_START.length, end) : null;
}

export function readAuthors(text: string): readonly Author[] {
  return text === '[]' ? NO_AUTHORS : authors.parse(JSON.parse(text));
}

export function readCalibration(text: string | null): Calibration | null {
  if (text === null) return null;
  if (lastCalibration?.text !== text)
    lastCalibration = { text, value: Object.freeze(calibration.parse(JSON.parse(text))) };
  return lastCalibration.value;
}

/** The units of a turn read the same text one after the other. */
let lastCalibration: { readonly text: string; readonly value: Calibration } | null = null;

export function readPostBody(text: string): PostBody {
  return postBody.parse(JSON.parse(text));
}

export function readExtractedBy(text: string | null): Memory['extractedBy'] {
  return text === null ? null : extractedBy.parse(JSON.parse(text));
}

export function readLost(text: string | null): LossIndex {
  return text === null ? NOTHING_LOST : lost.parse(JSON.parse(text));
}

export function readAdditions(text: string | null): readonly Addition[] {
  return text === null ? NOTHING_ADDED : additions.parse(JSON.parse(text));
}

/** Null for nothing, as most texts are never edited. */
export function writeAdditions(added: readonly Addition[]): string | null {
  return added.length === 0 ? null : JSON.stringify(added);
}

export function readRun(text: string): MaintenanceRun {
  return run.parse(JSON.parse(text));
}

export function readMemoryEvent(row: MemoryEventRow): MemoryEvent {
  return memoryEvent.parse({ ...row, memoryId: row.memory_id, detail: JSON.parse(row.detail) });
}

export function readJson(text: string): JsonValue {
  return z.json().parse(JSON.parse(text));
}

export function writeJson(value: unknown): string {
  return JSON.stringify(value);
}
