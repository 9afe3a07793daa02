import { z } from 'zod';
import { candidateSchema, type MemoryCandidate } from '../../memory/admission/candidate.ts';
import { spokenText } from '../../models/spoken/reader.ts';
import { looseJson } from './loose-json.ts';

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

export const CANDIDATE_NAMES: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'content', 'memory', 'statement', 'fact'],
  kind: ['kind', 'type', 'category'],
  about: ['about', 'subject'],
  sources: ['sources', 'source', 'source_ids', 'seqs', 'messages'],
  importance: ['importance', 'priority', 'score'],
  supersedes: ['supersedes', 'replaces'],
};

const objectSchema = z.record(z.string(), z.unknown());

/** Takes the first name that has a value; a plain text fills the first field, unless it is an object that was not parsed. */
export function named(given: unknown, names: Readonly<Record<string, readonly string[]>>): unknown {
  const isObject = typeof given === 'string' && given.trimStart().startsWith('{');
  const input = isObject ? looseJson(given) : given;
  const parsed = objectSchema.safeParse(input);
  if (!parsed.success) return typeof input === 'string' ? { [Object.keys(names)[0] ?? '']: input } : input;
  const pick = (aliases: readonly string[]) =>
    aliases.map((alias) => parsed.data[alias]).find((value) => value !== undefined && value !== null);
  return Object.fromEntries(Object.entries(names).map(([name, aliases]) => [name, pick(aliases)]));
}

const nonBlank = z.string().refine((text) => text.trim() !== '');
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

/** Elsewhere, a dash makes a number that names nothing. */
const RANGE = /(?<=\d) ?-(?= ?#?\d)/gu;

/** `12`, `"12"`, `"#12, #15"`, `[12, "#15"]` and `[{ "seq": 12 }]` all name lines. */
function numbersOf(value: unknown): readonly number[] {
  if (value === undefined || value === null) return [];
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return [...new Set((text.replace(RANGE, ' ').match(/-?\d+/gu) ?? []).map(Number))].filter((seq) => seq > 0);
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
