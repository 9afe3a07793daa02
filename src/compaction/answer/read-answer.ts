import { z } from 'zod';
import type { MemoryCandidate } from '../../memory/admission/candidate.ts';
import { spokenText } from '../../models/spoken/reader.ts';
import { type Answer, MEMORY_TOOL, NO_ANSWER, SUMMARY_TOOL } from './answer.ts';
import { CANDIDATE_NAMES, named, parseCandidate } from './candidate-shape.ts';
import { jsonIn } from './found-json.ts';
import { sectionsText } from './sections.ts';

/** What a model wrote where the summary, the memories or both were wanted. */
export interface ReadAnswer {
  readonly answer: Answer;
  /** It was JSON, so the summary is whole even if the answer was cut off after it. */
  readonly isJson: boolean;
}

const NOT_JSON = 'it was not the requested JSON object';

/** A text is either the summary or JSON that contains it. JSON that the source contains too is a quotation of it. */
export function readText(text: string, source = ''): ReadAnswer {
  const plain = plainAnswer(text);
  const json = parseJsonAnswer(plain, source);
  if (json !== null) return { answer: json, isJson: true };
  if (BEGINS_JSON.test(plain)) return { answer: { ...NO_ANSWER, problems: [NOT_JSON] }, isJson: false };
  return { answer: { ...NO_ANSWER, summary: plain.replace(LEAD, '') }, isJson: false };
}

/** A heading or a remark such as "Sure! Here is the summary:" says nothing, and would take tokens of every view. */
const LEAD =
  /^(?:(?:sure|certainly|of course|ok(?:ay)?|here|hier|voici|aquí)\b[^\n:]{0,80}:|(?:#{1,6} |\*\*)?(?:summary|zusammenfassung|résumé|resumen)(?:\*\*)?:?(?:\*\*)?)[^\S\n]{0,9}\n\s*/iu;

/** The text without reasoning and without a fence around the whole. */
export function plainAnswer(text: string): string {
  const spoken = spokenText(text).trim();
  return /^```\w*\n([\s\S]*?)\n?```$/u.exec(spoken)?.[1]?.trim() ?? spoken;
}

/** An object that could not be read, right at the beginning or after a sentence such as "Here it is:". */
const BEGINS_JSON =
  /^(?:[{[]\s*["'{]|"\s*\{|[^{[]{0,80}[{[]\s*(?:\{\s*)?["'](?:summary|memories|kind|text|name)["']\s*:)/u;

/**
 * The summary and the memories in an answer of JSON: one object, several, or calls in the notation of another system,
 * with fences and remarks around them. Null if the text has none, or only quotes some.
 */
export function parseJsonAnswer(text: string, source = ''): Answer | null {
  const fenced = /(?:^|\n)```\w*\n([\s\S]*?)\n```/u.exec(text)?.[1];
  for (const given of fenced === undefined ? [text] : [text, fenced]) {
    const shown = unquoted(given);
    const { values, characters, start } = jsonIn(shown);
    const isMost = characters * 2 >= shown.length;
    const isSaid = isMost && isPartOf(source, shown.slice(start, start + Math.min(characters, MAX_COMPARED)));
    const read = isMost && !isSaid ? readValues(values) : null;
    if (read !== null) return read;
  }
  return null;
}

/** A model that repeats this many characters has copied them; fewer, such as an empty list, may be its own. */
const MIN_REPEATED = 24;
const MAX_COMPARED = 60;

function isPartOf(source: string, json: string): boolean {
  const bare = (text: string) => text.replace(/\s/gu, '');
  return json.length >= MIN_REPEATED && bare(source).includes(bare(json));
}

/** Some models write the object as a text in quotation marks. */
function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return z.string().parse(JSON.parse(text));
  } catch {
    return text;
  }
}

/** What is in the arguments of a call, or in the values of an answer. Null if nothing in them is known. */
export function readValues(values: readonly unknown[]): Answer | null {
  const found: Found = { summaries: [], items: [], isKnown: false };
  for (const value of values) gather(found, value);
  if (!found.isKnown) return null;
  const read = found.summaries.map((text) => readSummary(text));
  const items = found.items.map(parseCandidate);
  const unreadable = items.filter((item) => item === null).length;
  return {
    summary: longest(read.map(({ summary }) => summary)),
    candidates: eachOnce([...items.filter((item) => item !== null), ...read.flatMap(({ candidates }) => candidates)]),
    problems: [
      ...(unreadable === 0 ? [] : [`${unreadable} of ${items.length} memories could not be read`]),
      ...read.flatMap(({ problems }) => problems),
    ],
  };
}

/** The text of a summary may be JSON again. */
function readSummary(text: string): Answer {
  const { answer } = readText(text);
  return answer.summary?.trim() === '' ? { ...answer, summary: null } : answer;
}

interface Found {
  readonly summaries: string[];
  readonly items: unknown[];
  isKnown: boolean;
}

function gather(found: Found, value: unknown): void {
  const call = callSchema.safeParse(value).data;
  if (Array.isArray(value)) gatherList(found, value);
  else if (call?.name === SUMMARY_TOOL.name) gather(found, call.input);
  else gatherObject(found, value, call);
}

function gatherObject(found: Found, value: unknown, call: z.infer<typeof callSchema> | undefined): void {
  const memory = call?.name === MEMORY_TOOL.name ? call.input : memoryIn(value);
  const answer = memory === undefined ? answerSchema.safeParse(value).data : undefined;
  if (memory !== undefined) found.items.push(memory);
  if (answer?.summary !== undefined) found.summaries.push(answer.summary);
  for (const item of answer?.memories ?? []) found.items.push(item);
  found.isKnown ||= memory !== undefined || answer !== undefined;
}

/** Whole answers, calls or memories. Numbers are sources that a text names. */
function gatherList(found: Found, list: readonly unknown[]): void {
  for (const item of list) {
    if (wholeSchema.safeParse(item).success) gather(found, item);
    else if (typeof item !== 'number') found.items.push(item);
  }
  found.isKnown ||= !list.some((item) => typeof item === 'number');
}

/** A memory outside of any list is known by its sources, or by its kind. */
function memoryIn(value: unknown): unknown {
  if (wholeSchema.safeParse(value).success) return undefined;
  const { sources, kind } = keysSchema.safeParse(named(value, CANDIDATE_NAMES)).data ?? {};
  return sources !== undefined || (kind !== undefined && parseCandidate(value) !== null) ? value : undefined;
}

function longest(texts: readonly (string | null)[]): string | null {
  const found = texts.filter((text) => text !== null).toSorted((a, b) => b.length - a.length);
  return found[0] ?? null;
}

function eachOnce(candidates: readonly MemoryCandidate[]): readonly MemoryCandidate[] {
  return [
    ...new Map(candidates.map((candidate) => [JSON.stringify([candidate.kind, candidate.text]), candidate])).values(),
  ];
}

const SUMMARY_NAMES = ['summary', 'text', 'content', 'summary_text'];
const LIST_NAMES = ['memories', 'memory', 'facts', 'items'];

const nonBlank = z.string().refine((text) => text.trim() !== '');
/** Some models give the sections of a summary as an object. */
const pointsSchema = z.union([z.string().transform((text) => text.split('\n')), z.array(z.string())]);
const summaryText = z.preprocess((input) => {
  const sections = z.record(z.string(), pointsSchema).safeParse(input);
  return sections.success ? sectionsText(Object.entries(sections.data)) : input;
}, nonBlank);

const answerSchema = z.preprocess(
  (input) => named(input, { summary: SUMMARY_NAMES, memories: LIST_NAMES }),
  z
    .object({
      summary: summaryText.optional().catch(undefined),
      memories: z.array(z.unknown()).optional().catch(undefined),
    })
    .refine(({ summary, memories }) => summary !== undefined || memories !== undefined),
);

/** What is more than a memory. */
const wholeSchema = z.union([
  z.object({ summary: z.unknown().refine(isGiven) }),
  z.object({ memories: z.unknown().refine(isGiven) }),
  z.object({ name: z.enum([SUMMARY_TOOL.name, MEMORY_TOOL.name]) }),
]);
const keysSchema = z.object({ sources: z.unknown(), kind: z.unknown() });

function isGiven(value: unknown): boolean {
  return value !== undefined;
}

/** A call as models write it into their text when their server does not understand calls. */
const callSchema = z
  .looseObject({ name: z.string() })
  .transform(({ name, arguments: given, parameters }) => ({ name, input: given ?? parameters }));
