import { z } from 'zod';
import {
  type JsonValue,
  QUOTATION_MARKS,
  quotationsIn,
  type ToolSpec,
  trimEndOf,
} from '../../../../src/adapter-kit.ts';
import { numberWords } from '../text/word-lists.ts';

/** One field of a tool's input, according to its JSON Schema. */
const fieldSchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  default: z.json().optional(),
  minimum: z.number().optional(),
  items: z.unknown().optional(),
});
type Field = z.infer<typeof fieldSchema>;

const objectSchema = z.looseObject({
  properties: z.record(z.string(), fieldSchema).default({}),
  required: z.array(z.string()).default([]),
});

/** Values in a message that can fill a tool's input. */
interface Material {
  readonly text: string;
  readonly quotes: string[];
  readonly numbers: number[];
  readonly rest: string;
}

/** Fills a tool's input from plain text: numbers, quoted strings, otherwise the topic of the message. */
export function inputFrom(spec: ToolSpec, message: string): JsonValue {
  const schema = objectSchema.safeParse(spec.inputSchema);
  if (!schema.success) return {};
  const { properties, required } = schema.data;
  const material = materialOf(message, spec);
  // A request in a small window only names its tools: most of them take a query.
  if (Object.keys(properties).length === 0) return { query: material.quotes[0] ?? material.rest };
  const needed = Object.entries(properties).toSorted(
    ([a], [b]) => Number(required.includes(b)) - Number(required.includes(a)),
  );
  const filled = needed.flatMap(([name, field]) => {
    const value = valueFor(name, field, { material, isRequired: required.includes(name) });
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(filled);
}

function valueFor(
  name: string,
  field: Field,
  { material, isRequired }: { readonly material: Material; readonly isRequired: boolean },
): JsonValue | undefined {
  if (field.enum !== undefined) return enumValue(field.enum, material, isRequired);
  switch (typeOf(field)) {
    case 'number':
    case 'integer':
      return numberFor(name, material) ?? (isRequired ? (field.default ?? field.minimum ?? 1) : undefined);
    case 'boolean':
      return material.text.toLowerCase().includes(name.toLowerCase()) ? true : isRequired ? false : undefined;
    case 'array':
      return arrayFor(field, material, isRequired);
    case 'object':
      return isRequired ? {} : undefined;
    default:
      return material.quotes.shift() ?? (isRequired ? material.rest : undefined);
  }
}

function typeOf({ type }: Field): string {
  return (Array.isArray(type) ? type.find((one) => one !== 'null') : type) ?? 'string';
}

function enumValue(
  values: readonly (string | number)[],
  { text }: Material,
  isRequired: boolean,
): JsonValue | undefined {
  const named = values.find((value) => text.toLowerCase().includes(String(value).toLowerCase()));
  return named ?? (isRequired ? values[0] : undefined);
}

/** "2d6" means two dice with six sides; otherwise numbers are taken in order. */
function numberFor(name: string, { text, numbers }: Material): number | undefined {
  const [, count, sides] = /\b(\d*)d(\d+)\b/i.exec(text) ?? [];
  if (sides !== undefined && /side|face|max|high|size|die\b/i.test(name)) return take(numbers, Number(sides));
  if (sides !== undefined && /count|times|number|dice|rolls|amount/i.test(name))
    return take(numbers, Number(count) || 1);
  return numbers.shift();
}

function take(numbers: number[], value: number): number {
  const at = numbers.indexOf(value);
  if (at >= 0) numbers.splice(at, 1);
  return value;
}

function arrayFor({ items }: Field, material: Material, isRequired: boolean): JsonValue | undefined {
  const item = fieldSchema.safeParse(items).data;
  const isNumbers = item !== undefined && /number|integer/.test(typeOf(item));
  const values = isNumbers ? material.numbers.splice(0) : material.quotes.splice(0);
  if (values.length > 0) return values;
  if (!isRequired) return undefined;
  return isNumbers || material.rest === ''
    ? []
    : material.rest
        .split(/,| and /)
        .map((part) => part.trim())
        .filter((part) => part !== '');
}

const MARKS = new Map([...QUOTATION_MARKS, ['„', '“']]);

function materialOf(message: string, spec: ToolSpec): Material {
  const quoted = quotationsIn(message, MARKS);
  const outside = quoted.map(({ start }, index) => message.slice(quoted[index - 1]?.end ?? 0, start));
  const unquoted = [...outside, message.slice(quoted.at(-1)?.end ?? 0)].join(' ');
  const single = [...unquoted.matchAll(/(?<!\w)['‘]([^'’]{1,200})['’](?!\w)/g)].map(([, said = '']) => said);
  const quotes = [...quoted.map(({ text }) => text), ...single].map((said) => said.trim());
  return { text: message, quotes, numbers: numbersIn(unquoted), rest: restOf(message, spec) };
}

function numbersIn(text: string): number[] {
  return [...text.toLowerCase().matchAll(/(?<![\w.])\d*d\d+\b|-?\d+(?:\.\d+)?|\p{L}+/gu)].flatMap(([found]) => {
    if (/^\d*d\d+$/.test(found)) return found.split('d').filter(Boolean).map(Number);
    const value = /^-?\d/.test(found) ? Number(found) : numberWords.get(found);
    return value === undefined ? [] : [value];
  });
}

/** The text after "for", "about" and the like; otherwise the message without the words that only ask for the tool. */
function restOf(message: string, { name }: ToolSpec): string {
  const line = message.replace(/\s+/g, ' ');
  const bare = trimEndOf(line, '?!.').replace(/^["“]|["”]$/g, '');
  const after = /\b(?:for|about|of|in|to|named|called|with|saying|that|on|nach|über) (.+)/i.exec(bare)?.[1];
  if (after !== undefined) return after.replace(/^(?:the|a|an|me) /i, '').trim();
  const words = new Set([
    ...name.toLowerCase().split(/[_-]/),
    'please',
    'the',
    'a',
    'an',
    'use',
    'call',
    'run',
    'tool',
    'my',
    'me',
    'can',
    'you',
    'could',
    'what',
    'is',
    's',
  ]);
  return bare
    .split(/\s+/)
    .filter((word) => !words.has(word.toLowerCase()))
    .join(' ');
}
