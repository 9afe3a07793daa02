import { z } from 'zod';
import { momentOf } from '../shared/moments.ts';

/** The names for the ids in a text. Null if unknown. */
export interface Names {
  readonly user: (id: string) => string | null;
  readonly channel: (id: string) => string | null;
}

/** Slack's markup as people see it: ids become names, links their URL, three escapes their characters. */
export function readable(text: string, names: Names): string {
  return unescaped(text.replace(/<([^<>\n]+)>/g, (_, inner: string) => reference(inner, names)));
}

/** The same for what people typed after a command: only if its manifest says so, Slack marks names and addresses there. */
export function readableTyped(text: string, names: Names): string {
  return unescaped(text.replace(TYPED, (_, inner: string) => reference(inner, names)));
}

const TYPED = /<((?:[@#][A-Z0-9]|!|https?:|mailto:)[^<>\n]*)>/g;

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function reference(inner: string, names: Names): string {
  const bar = inner.indexOf('|');
  const [target, label] = bar === -1 ? [inner, ''] : [inner.slice(0, bar), inner.slice(bar + 1)];
  const id = target.slice(1);
  if (target.startsWith('@')) return `@${names.user(id) ?? (label || id)}`;
  if (target.startsWith('#')) return `#${names.channel(id) ?? (label || id)}`;
  if (target.startsWith('!')) return special(id, label);
  const address = target.replace(/^mailto:/, '');
  return label === '' || label === address ? address : `[${label}](${target})`;
}

function special(target: string, label: string): string {
  if (target.startsWith('subteam^')) return label === '' ? '@group' : `@${label.replace(/^@/, '')}`;
  if (target.startsWith('date^')) return label || (momentOf(Number(target.split('^')[1])) ?? '');
  return `@${label || target}`;
}

/** People named in a text, in order. */
export function mentionedIds(text: string): readonly string[] {
  return [...new Set(Array.from(text.matchAll(/<@([A-Z0-9]+)[|>]/g), ([, id = '']) => id))];
}

/** A list that claims to be deeper is not indented. */
const MAX_INDENT = 20;
/** An emoji consists of fewer characters. */
const MAX_POINTS = 32;

/** Blocks inside blocks, which Slack allows in few kinds. */
const MAX_DEPTH = 5;

const list = z.array(z.unknown()).nullish().catch(null);
const words = z.unknown().optional();

const elementSchema = z.object({
  type: z.string(),
  /** Of cards, containers, tasks, tables and other kinds: plain words, a text object, or rich text. */
  ...{ title: words, rich_text_title: words, subtitle: words, caption: words, label: words },
  ...{ body: words, description: words, details: words, output: words },
  ...{ child_blocks: list, tasks: list },
  text: z.union([z.string(), z.object({ text: z.string() })]).nullish(),
  url: z.string().nullish(),
  user_id: z.string().nullish(),
  channel_id: z.string().nullish(),
  name: z.string().nullish(),
  unicode: z.string().nullish(),
  range: z.string().nullish(),
  alt_text: z.string().nullish(),
  style: z.unknown().optional(),
  indent: z.int().min(0).max(MAX_INDENT).nullish().catch(null),
  offset: z.int().nullish().catch(null),
  elements: z.array(z.unknown()).nullish(),
  fields: z.array(z.unknown()).nullish(),
  rows: z.array(z.array(z.unknown())).nullish(),
  /** Of a time, in seconds. */
  timestamp: z.number().nullish().catch(null),
  /** Formatted time. */
  fallback: z.string().nullish(),
  /** Colour code. */
  value: z.string().nullish().catch(null),
});
type Element = z.infer<typeof elementSchema>;

/** The words of a message's blocks as plain Markdown. Empty if there are none. */
export function textOfBlocks(blocks: readonly unknown[], names: Names): string {
  return filled(elementsOf(blocks).map((block) => blockText(block, names))).join('\n');
}

export function filled(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => text !== '');
}

function elementsOf(parts: readonly unknown[] | null | undefined): readonly Element[] {
  return (parts ?? []).flatMap((part) => elementSchema.safeParse(part).data ?? []);
}

function blockText(block: Element, names: Names, depth = MAX_DEPTH): string {
  const inner = elementsOf(block.elements);
  switch (block.type) {
    case 'rich_text': {
      const lines = inner.map((part) => richText(part, names)).join('\n');
      return lines.replace(/\n{3,}/g, '\n\n').trim();
    }
    case 'section':
    case 'header':
    case 'markdown':
      return filled([block, ...elementsOf(block.fields)].map((part) => ownText(part, names))).join('\n');
    case 'context':
      return filled(inner.map((part) => ownText(part, names))).join(' ');
    case 'image':
      return `[image: ${block.alt_text ?? ''}]`;
    case 'table':
      return rowsOf(block, names);
    default:
      return otherText(block, names, depth);
  }
}

/** Of another kind, such as a card or a container. The labels of its buttons are left out, as in other blocks. */
function otherText(block: Element, names: Names, depth: number): string {
  const { title, rich_text_title: richTitle, subtitle, caption, label } = block;
  const { body, description, details, output, child_blocks: children, tasks, elements } = block;
  const heading = [richTitle ?? title, subtitle, caption, label].map((part) => partText(part, names));
  const own = [body, description, details, output].map((part) => partText(part, names));
  const parts = [...(children ?? []), ...(tasks ?? []), ...(block.type === 'carousel' ? (elements ?? []) : [])];
  const inner = depth > 0 ? elementsOf(parts).map((part) => blockText(part, names, depth - 1)) : [];
  return filled([...heading, ownText(block, names), ...own, rowsOf(block, names), ...inner]).join('\n');
}

function partText(part: unknown, names: Names): string {
  if (typeof part === 'string') return readable(part, names);
  const read = elementSchema.safeParse(part).data;
  if (read === undefined) return '';
  return read.type === 'rich_text' ? blockText(read, names) : ownText(read, names);
}

function rowsOf({ rows }: Element, names: Names): string {
  return (rows ?? []).map((row) => cellsOf(row, names)).join('\n');
}

function cellsOf(row: readonly unknown[], names: Names): string {
  return elementsOf(row)
    .map((cell) => (cell.type === 'rich_text' ? blockText(cell, names) : ownText(cell, names)).replace(/\s+/g, ' '))
    .join(' | ');
}

function ownText({ text }: Element, names: Names): string {
  return readable(typeof text === 'string' ? text : (text?.text ?? ''), names);
}

function richText(part: Element, names: Names): string {
  const inner = elementsOf(part.elements);
  const line = () => inner.map((element) => inlineText(element, names)).join('');
  switch (part.type) {
    case 'rich_text_preformatted':
      return `\`\`\`\n${line()}\n\`\`\``;
    case 'rich_text_quote':
      return line().replace(/^/gm, '> ');
    case 'rich_text_list':
      return inner.map((item, index) => `${markOf(part, index)} ${richText(item, names)}`).join('\n');
    default:
      return line();
  }
}

function markOf({ style, offset, indent }: Element, index: number): string {
  const mark = style === 'ordered' ? `${(offset ?? 0) + index + 1}.` : '-';
  return `${'  '.repeat(indent ?? 0)}${mark}`;
}

const styleSchema = z.object({
  bold: z.boolean().nullish(),
  italic: z.boolean().nullish(),
  strike: z.boolean().nullish(),
  code: z.boolean().nullish(),
});

function inlineText(element: Element, names: Names): string {
  const own = typeof element.text === 'string' ? element.text : '';
  switch (element.type) {
    case 'text':
      return styled(own, element.style);
    case 'link':
      return own === '' || own === element.url ? (element.url ?? '') : `[${own}](${element.url ?? ''})`;
    case 'user':
      return `@${names.user(element.user_id ?? '') ?? element.user_id ?? ''}`;
    case 'channel':
      return `#${names.channel(element.channel_id ?? '') ?? element.channel_id ?? ''}`;
    case 'usergroup':
      return '@group';
    case 'team':
      return '@workspace';
    case 'broadcast':
      return `@${element.range ?? 'channel'}`;
    case 'emoji':
      return emoji(element);
    case 'date':
      return element.fallback || (momentOf(element.timestamp ?? Number.NaN) ?? '');
    default:
      return own || (element.fallback ?? element.value ?? '');
  }
}

function styled(text: string, style: unknown): string {
  const { bold, italic, strike, code } = styleSchema.safeParse(style).data ?? {};
  const marks = [bold ? '**' : '', italic ? '_' : '', strike ? '~~' : '', code ? '`' : ''].filter(
    (mark) => mark !== '',
  );
  if (text.trim() === '') return text;
  return `${marks.join('')}${text}${marks.toReversed().join('')}`;
}

function emoji({ unicode, name }: Element): string {
  const points = (unicode ?? '').split('-', MAX_POINTS).map((point) => Number.parseInt(point, 16));
  const isKnown = points.every((point) => Number.isInteger(point) && point > 0 && point <= 0x10ffff);
  return isKnown ? String.fromCodePoint(...points) : `:${name ?? ''}:`;
}
