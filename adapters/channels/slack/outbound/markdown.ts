import { getDefaults, Lexer, type Token, Tokenizer, type Tokens } from 'marked';

/** Text of one style. */
export interface Run {
  readonly text: string;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly strike: boolean;
  readonly code: boolean;
  /** Its target; null for plain text. */
  readonly url: string | null;
}

export interface Item {
  /** Its depth; 0 for the outermost list. */
  readonly indent: number;
  readonly ordered: boolean;
  readonly number: number;
  readonly runs: readonly Run[];
}

/** The parts of a Markdown text that Slack can show. */
export type Block =
  | { readonly kind: 'text'; readonly runs: readonly Run[] }
  | { readonly kind: 'heading'; readonly runs: readonly Run[] }
  | { readonly kind: 'quote'; readonly runs: readonly Run[] }
  | { readonly kind: 'list'; readonly items: readonly Item[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'rule' };

const PLAIN: Run = { text: '', bold: false, italic: false, strike: false, code: false, url: null };

export function parseMarkdown(text: string): readonly Block[] {
  const whole: readonly Block[] = [{ kind: 'text', runs: [{ ...PLAIN, text }] }];
  return isTooHard(text) ? whole : unlessTooDeep(() => tokensOf(text).flatMap(blockOf), whole);
}

export type SourceBlock = Pick<Token, 'raw' | 'type'>;

/** The blocks of the text; or the whole text as one block if they would not reproduce it. */
export function sourceBlocks(text: string): readonly SourceBlock[] {
  const whole = [{ type: 'text', raw: text }];
  const tokens = isTooHard(text) ? whole : unlessTooDeep<readonly Token[]>(() => createLexer().blockTokens(text), []);
  return tokens.map(({ raw }) => raw).join('') === text ? tokens : whole;
}

/**
 * The parser tries every opening mark of a paragraph with every closing one. Paragraphs with more marks stay as
 * written.
 */
const MAX_MARKS = 200;
const MARKS = /[*_~`[\]<&!]/g;
const MAX_PARAGRAPH = 12_000;

function tokensOf(text: string): readonly Token[] {
  const lexer = createLexer();
  const blocks = lexer.blockTokens(text.replaceAll('\r\n', '\n'), lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    const isHard = src.length > MAX_PARAGRAPH || (src.match(MARKS)?.length ?? 0) > MAX_MARKS;
    if (isHard) tokens.push({ type: 'text', raw: src, text: src });
    else lexer.inlineTokens(src, tokens);
  }
  return blocks;
}

/** The parser fills up each row to the width of the head, so a table may have many more cells than characters. */
const MAX_FILLED = 1_000;

/** Reads a table of almost nothing but missing cells as a paragraph. */
function createLexer(): Lexer {
  const tokenizer: Tokenizer = new Tokenizer();
  const readTable = tokenizer.table.bind(tokenizer);
  tokenizer.table = (text) => {
    const found = tokenizer.rules.block.table.exec(text);
    const [whole = '', head = '', , body = ''] = found ?? [];
    const cells = head.split('|').length * (body.split('\n').length + 1);
    return cells > Math.max(MAX_FILLED, whole.length) ? undefined : readTable(text);
  };
  return new Lexer({ ...getDefaults(), tokenizer });
}

/** The parser reads the text again for every level of a list or quote, so deeper levels stay plain text. */
const MAX_LEVELS = 20;
const LEVEL = /[\t ]*(?:[>*+-]|\d{1,9}[.)])/y;
/** In a list it reads the following lines again for every line, up to a blank line or the next item. */
const MAX_LINES = 400;
const ITEM = /^[\t >]*(?:[*+-]|\d{1,9}[.)])(?:\s|$)/;
const OUTER_ITEM = /^ {0,3}(?:[*+-]|\d{1,9}[.)])(?:\s|$)/;
/** It reads the rows again for every line that may be a head. */
const MAX_TABLES = 50;
const BELOW_HEAD = /^[\t >]*[|:-][|:\t -]*$/;

/** Whether the parser would take much longer than the length of the text. */
function isTooHard(text: string): boolean {
  const lines = text.split('\n');
  if (lines.some(isTooDeep)) return true;
  if (lines.length <= MAX_TABLES) return false;
  return lines.filter((line) => BELOW_HEAD.test(line)).length > MAX_TABLES || (lines.some(isItem) && hasLongRun(lines));
}

function isTooDeep(line: string): boolean {
  let levels = 0;
  for (LEVEL.lastIndex = 0; levels <= MAX_LEVELS && LEVEL.test(line); levels += 1);
  LEVEL.lastIndex = 0;
  return levels > MAX_LEVELS;
}

function isItem(line: string): boolean {
  return ITEM.test(line);
}

function hasLongRun(lines: readonly string[]): boolean {
  let run = 0;
  return lines.some((line) => {
    run = line.trim() === '' || OUTER_ITEM.test(line) ? 0 : run + 1;
    return run > MAX_LINES;
  });
}

/** The parser recurses for every level and can overflow the stack. */
function unlessTooDeep<Result>(read: () => Result, otherwise: Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return otherwise;
    throw error;
  }
}

function blockOf(token: Token): readonly Block[] {
  switch (token.type) {
    case 'space':
    case 'def':
      return [];
    case 'heading':
      return [{ kind: 'heading', runs: runsOf(token.tokens ?? []) }];
    case 'code':
      return [{ kind: 'code', text: token.text }];
    case 'blockquote':
      return [{ kind: 'quote', runs: joined(token.tokens ?? []) }];
    case 'list':
      return [{ kind: 'list', items: itemsOf(token, 0) }];
    case 'table':
      return [{ kind: 'code', text: tableText(token) }];
    case 'hr':
      return [{ kind: 'rule' }];
    default:
      return [{ kind: 'text', runs: runsOf([token]) }];
  }
}

type Style = Omit<Run, 'text'>;

function runsOf(tokens: readonly Token[], style: Style = PLAIN): readonly Run[] {
  return tokens.flatMap((token) => inline(token, style)).filter(({ text }) => text !== '');
}

function inline(token: Token, style: Style): readonly Run[] {
  const inner = (more: Partial<Style>) => runsOf(innerOf(token), { ...style, ...more });
  switch (token.type) {
    case 'strong':
      return inner({ bold: true });
    case 'em':
      return inner({ italic: true });
    case 'del':
      return inner({ strike: true });
    case 'codespan':
      return [{ ...style, code: true, text: token.text }];
    case 'br':
      return [{ ...style, text: '\n' }];
    case 'checkbox':
      return [{ ...style, text: token.checked ? '☑ ' : '☐ ' }];
    case 'escape':
      return [{ ...style, text: token.text }];
    case 'link':
      return linkRuns(token.href, inner({}), style);
    case 'image':
      return linkRuns(token.href, [{ ...style, text: token.text || token.href }], style);
    case 'paragraph':
    case 'text':
      return 'tokens' in token && token.tokens ? inner({}) : [{ ...style, text: characters(token.text) }];
    default:
      return [{ ...style, text: token.raw }];
  }
}

function innerOf(token: Token): readonly Token[] {
  return 'tokens' in token ? (token.tokens ?? []) : [];
}

/** Only links to the web or to an email address; others stay text. */
function linkRuns(href: string, runs: readonly Run[], style: Style): readonly Run[] {
  const shown = runs.map(({ text }) => text).join('') || href;
  if (!/^(?:https?:\/\/|mailto:)\S+$/i.test(href) || href.length > 3000) return [{ ...style, text: shown }];
  return [{ ...style, text: shown, url: href }];
}

/** The runs of several blocks, one line each. */
function joined(tokens: readonly Token[]): readonly Run[] {
  const lines = tokens.filter(({ type }) => type !== 'space').map(flat);
  return lines.flatMap((runs, index) => (index === 0 ? runs : [{ ...PLAIN, text: '\n' }, ...runs]));
}

/** A block inside a quote or an item, where Slack supports no blocks. */
function flat(token: Token): readonly Run[] {
  return blockOf(token).flatMap((block): readonly Run[] => {
    switch (block.kind) {
      case 'code':
        return block.text === '' ? [] : [{ ...PLAIN, code: true, text: block.text }];
      case 'rule':
        return [{ ...PLAIN, text: '———' }];
      case 'list':
        return block.items.flatMap(({ runs, ordered, number, indent }, index) => [
          { ...PLAIN, text: `${index === 0 ? '' : '\n'}${'  '.repeat(indent)}${ordered ? `${number}.` : '•'} ` },
          ...runs,
        ]);
      default:
        return block.runs;
    }
  });
}

function isList(token: Token): token is Tokens.List {
  return token.type === 'list';
}

const INLINE = new Set(['checkbox', 'escape', 'strong', 'em', 'del', 'codespan', 'link']);

function itemsOf(list: Token, indent: number): readonly Item[] {
  if (!isList(list)) return [];
  const first = typeof list.start === 'number' ? list.start : 1;
  return list.items.flatMap((item, index) => {
    const own = item.tokens.filter((token) => !isList(token) && token.type !== 'space');
    const runs = own.flatMap((token, at) => {
      const parts = INLINE.has(token.type) ? runsOf([token]) : flat(token);
      const followsBlock = at > 0 && !INLINE.has(own[at - 1]?.type ?? '');
      return followsBlock ? [{ ...PLAIN, text: '\n' }, ...parts] : parts;
    });
    const nested = item.tokens.filter(isList).flatMap((inner) => itemsOf(inner, indent + 1));
    return [{ indent, ordered: list.ordered, number: first + index, runs }, ...nested];
  });
}

const MAX_PADDED = 10_000;

/** Slack allows one narrow table per message; monospaced text works everywhere. */
function tableText(table: Token): string {
  if (!isTable(table)) return table.raw;
  const cells = [table.header, ...table.rows].map((row) => row.map(({ tokens }) => words(tokens)));
  const full = table.header.map((_, column) => Math.max(1, ...cells.map((row) => row[column]?.length ?? 0)));
  const size = cells.length * full.reduce((sum, width) => sum + width, 0);
  // One long cell would fill up the column in every row.
  const widths = size <= MAX_PADDED ? full : full.map(() => 1);
  const line = (row: readonly string[]) =>
    widths
      .map((width, column) => (row[column] ?? '').padEnd(width))
      .join(' | ')
      .trimEnd();
  const [head = [], ...rows] = cells;
  return [line(head), widths.map((width) => '-'.repeat(width)).join('-+-'), ...rows.map(line)].join('\n');
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === 'table';
}

function words(tokens: readonly Token[]): string {
  return runsOf(tokens)
    .map(({ text }) => text.replace(/\s+/g, ' '))
    .join('');
}

const CHARACTERS: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
};

function characters(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (name) => CHARACTERS[name] ?? name);
}
