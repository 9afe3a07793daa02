import { z } from 'zod';
import { candidateSchema, type MemoryCandidate } from '../memory/candidate.ts';
import { spokenText } from '../models/spoken/reader.ts';
import { MEMORY_KINDS } from '../ports/memory-store.ts';
import type { ToolCall, ToolSpec } from '../ports/model.ts';
import { looseJson } from './loose-json.ts';
import { sectionsText } from './sections.ts';

/** The collected answer of a model to a summary or extraction request, in any shape. Nothing is validated yet. */
export interface Answer {
  readonly summary: string | null;
  readonly candidates: readonly MemoryCandidate[];
  /** Calls or list items that could not be read. */
  readonly problems: readonly string[];
}

export const NO_ANSWER: Answer = { summary: null, candidates: [], problems: [] };

export const SUMMARY_TOOL: ToolSpec = {
  name: 'summary_save',
  description: 'Saves the summary that takes the place of the transcript. Call it exactly once.',
  inputSchema: {
    type: 'object',
    properties: { summary: { type: 'string' } },
    required: ['summary'],
  },
};

/** The prompt says what each field holds; the schema does not say it again. */
export const MEMORY_TOOL: ToolSpec = {
  name: 'memory_save',
  description: 'Saves one statement that should be remembered. Call it once for each statement.',
  inputSchema: {
    type: 'object',
    properties: {
      kind: { type: 'string', enum: MEMORY_KINDS },
      text: { type: 'string' },
      about: { type: 'string' },
      importance: { type: 'number' },
      sources: { type: 'array', items: { type: 'integer' } },
      supersedes: { type: 'string' },
    },
    required: ['kind', 'text', 'sources'],
  },
};

export interface Collected {
  /** The same object if the call added nothing new. */
  readonly answer: Answer;
  /** The result returned to the model for its call. */
  readonly receipt: string;
  readonly isTaken: boolean;
}

/** Adds the contents of a tool call. */
export function collectCall(answer: Answer, call: ToolCall): Collected {
  if (call.tool === SUMMARY_TOOL.name) return collectSummary(answer, call);
  if (call.tool !== MEMORY_TOOL.name) return problem(answer, `there is no tool ${call.tool}`);
  const candidate = parseCandidate(call.input);
  if (candidate === null) return problem(answer, 'kind and text are needed, and kind must be one of the listed ones');
  const taken = { receipt: 'Taken.', isTaken: true };
  if (isKnown(answer, candidate)) return { answer, ...taken };
  return { answer: { ...answer, candidates: [...answer.candidates, candidate] }, ...taken };
}

function collectSummary(answer: Answer, { input }: ToolCall): Collected {
  const summary = summaryInput.safeParse(input).data;
  if (summary === undefined) return problem(answer, 'the summary is missing: give its whole text as "summary"');
  const taken = { receipt: 'Taken.', isTaken: true };
  // If it was given twice, the longer one wins: the other may be its beginning.
  const isFuller = answer.summary === null || answer.summary.length < summary.length;
  return { answer: isFuller ? { ...answer, summary } : answer, ...taken };
}

/**
 * Parses the one JSON object of a model without tools, with or without a code fence and text around it. Null if there
 * is none.
 */
export function parseJsonAnswer(text: string): Answer | null {
  const parsed = answerSchema.safeParse(findJson(text));
  if (!parsed.success) return null;
  const { summary, memories } = parsed.data;
  const candidates = memories.map(parseCandidate);
  const unreadable = candidates.filter((candidate) => candidate === null).length;
  return {
    summary: summary ?? null,
    candidates: candidates.filter((candidate) => candidate !== null),
    problems: unreadable === 0 ? [] : [`${unreadable} of ${memories.length} memories could not be read`],
  };
}

/** The text without reasoning and without a fence around the whole. */
export function plainAnswer(text: string): string {
  const spoken = spokenText(text).trim();
  return /^```\w*\n([\s\S]*?)\n?```$/u.exec(spoken)?.[1]?.trim() ?? spoken;
}

/** Lenient about names and shapes, because models vary; strict about the result: a kind, a text, numbers. */
export function parseCandidate(input: unknown): MemoryCandidate | null {
  const raw = rawCandidate.safeParse(input);
  if (!raw.success) return null;
  const { sources, importance, kind, text, about, supersedes } = raw.data;
  const candidate = candidateSchema.safeParse({
    kind: KINDS[kind.trim().toLowerCase()] ?? kind.trim().toLowerCase(),
    text: spokenText(text).trim(),
    sources: numbersOf(sources),
    about: about?.trim() || null,
    importance: importanceOf(importance),
    supersedes: supersedes?.trim() || null,
  });
  return candidate.success ? candidate.data : null;
}

/** Names that other systems use for our kinds. */
const KINDS: Readonly<Record<string, string>> = { task: 'todo', goal: 'todo', person: 'identity', rule: 'instruction' };

const SUMMARY_NAMES = ['summary', 'text', 'content', 'summary_text'];
const LIST_NAMES = ['memories', 'memory', 'facts', 'items'];
const CANDIDATE_NAMES: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'content', 'memory', 'statement', 'fact'],
  kind: ['kind', 'type', 'category'],
  about: ['about', 'subject'],
  sources: ['sources', 'source', 'source_ids', 'seqs', 'messages'],
  importance: ['importance', 'priority', 'score'],
  supersedes: ['supersedes', 'replaces'],
};

const objectSchema = z.record(z.string(), z.unknown());

/** Takes the first name that has a value; a plain text fills the first field, unless it is an object that was not parsed. */
function named(given: unknown, names: Readonly<Record<string, readonly string[]>>): unknown {
  const isObject = typeof given === 'string' && given.trimStart().startsWith('{');
  const input = isObject ? looseJson(given) : given;
  const parsed = objectSchema.safeParse(input);
  if (!parsed.success) return typeof input === 'string' ? { [Object.keys(names)[0] ?? '']: input } : input;
  const pick = (aliases: readonly string[]) =>
    aliases.map((alias) => parsed.data[alias]).find((value) => value !== undefined && value !== null);
  return Object.fromEntries(Object.entries(names).map(([name, aliases]) => [name, pick(aliases)]));
}

const nonBlank = z.string().refine((text) => text.trim() !== '');
/** Some models give the sections of a summary as an object. */
const pointsSchema = z.union([z.string().transform((text) => text.split('\n')), z.array(z.string())]);
const summaryText = z.preprocess((input) => {
  const sections = z.record(z.string(), pointsSchema).safeParse(input);
  return sections.success ? sectionsText(Object.entries(sections.data)) : input;
}, nonBlank);
const summaryInput = z
  .preprocess((input) => named(input, { summary: SUMMARY_NAMES }), z.object({ summary: summaryText }))
  .transform(({ summary }) => spokenText(summary).trim());

const rawCandidate = z.preprocess(
  (input) => named(input, CANDIDATE_NAMES),
  z.object({
    text: nonBlank,
    kind: z.string().default('fact'),
    about: z.string().optional().catch(undefined),
    sources: z.unknown(),
    importance: z.unknown(),
    supersedes: z.string().optional().catch(undefined),
  }),
);

const answerSchema = z.preprocess(
  (input) =>
    Array.isArray(input) ? { memories: input } : named(input, { summary: SUMMARY_NAMES, memories: LIST_NAMES }),
  z
    .object({
      summary: summaryText.optional().catch(undefined),
      memories: z.array(z.unknown()).optional().catch(undefined),
    })
    .refine(({ summary, memories }) => summary !== undefined || memories !== undefined)
    .transform(({ summary, memories }) => ({
      summary: summary && spokenText(summary).trim(),
      memories: memories ?? [],
    })),
);

/** `12`, `"12"`, `"#12, #15"`, `[12, "#15"]` and `[{ "seq": 12 }]` all name lines. */
function numbersOf(value: unknown): readonly number[] {
  if (value === undefined || value === null) return [];
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return [...new Set((text.match(/\d+/gu) ?? []).map(Number))].filter((seq) => seq > 0);
}

const WORDS: Readonly<Record<string, number>> = { low: 0.3, medium: 0.5, high: 0.8, critical: 1 };

/** Models that ignore the scale rate from 1 to 10, in per cent or in words. */
function importanceOf(value: unknown): number | null {
  if (typeof value === 'string' && WORDS[value.toLowerCase()] !== undefined) return WORDS[value.toLowerCase()] ?? null;
  const number = typeof value === 'string' ? Number.parseFloat(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || number < 0) return null;
  if (number <= 1) return number;
  return Math.min(1, number <= 10 ? number / 10 : number / 100);
}

/** The whole text, the contents of its fence, or the text between its outermost braces: the first that parses. */
function findJson(text: string): unknown {
  const fenced = text.split('```', 3)[1]?.replace(/^json\b/iu, '');
  const braced = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  for (const candidate of [text, fenced, braced]) {
    const value = candidate === undefined ? undefined : looseJson(candidate);
    if (typeof value === 'object' && value !== null) return value;
  }
  return undefined;
}

function isKnown(answer: Answer, candidate: MemoryCandidate): boolean {
  return answer.candidates.some(({ kind, text }) => kind === candidate.kind && text === candidate.text);
}

function problem(answer: Answer, text: string): Collected {
  const receipt = `Not taken: ${text}.`;
  if (answer.problems.includes(text)) return { answer, receipt, isTaken: false };
  return { answer: { ...answer, problems: [...answer.problems, text] }, receipt, isTaken: false };
}
