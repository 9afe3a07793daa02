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

const elementSchema = z.object({
  type: z.string(),
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

function blockText(block: Element, names: Names): string {
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
      return (block.rows ?? []).map((row) => cellsOf(row, names)).join('\n');
    default:
      // Of a newer kind, such as an alert.
      return ownText(block, names);
  }
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
