import { type Block, type Item, parseMarkdown, type Run } from './markdown.ts';

export interface Formatted {
  /** For notifications and search; the whole message if there are no blocks. */
  readonly text: string;
  /** The whole message, where blocks are refused. */
  readonly whole: string;
  readonly blocks: readonly SlackBlock[];
}

export interface SlackBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

/**
 * A model's Markdown as Slack shows it. In rich text every word is data: text that looks like a mention of a person,
 * group or channel is shown as written and notifies nobody.
 */
export function format(markdown: string): Formatted {
  const parsed = parseMarkdown(markdown);
  const blocks = blocksOf(parsed);
  // A lone sign such as # is Markdown without words.
  const whole = mrkdwn(parsed) || escapeText(markdown).trim();
  // Next to blocks, the text is only for notifications and search, and updates accept no longer one.
  return { text: blocks.length === 0 ? whole : clipEscaped(whole, MAX_TEXT), whole, blocks };
}

/** Slack's limit for a message. */
export const MAX_BLOCKS = 50;

type Element = Readonly<Record<string, unknown>>;

function blocksOf(parsed: readonly Block[]): readonly SlackBlock[] {
  const blocks: SlackBlock[] = [];
  let elements: Element[] = [];
  const end = () => {
    if (elements.length > 0) blocks.push({ type: 'rich_text', elements });
    elements = [];
  };
  for (const [index, block] of parsed.entries()) {
    if (block.kind !== 'rule') {
      elements.push(...elementsOf(block, parsed[index + 1]));
      continue;
    }
    end();
    blocks.push({ type: 'divider' });
  }
  end();
  // Dividers alone are not a message.
  const isShown = blocks.length <= MAX_BLOCKS && blocks.some(({ type }) => type === 'rich_text');
  return isShown ? blocks : [];
}

function elementsOf(block: Exclude<Block, { kind: 'rule' }>, next: Block | undefined): readonly Element[] {
  switch (block.kind) {
    case 'code': {
      const elements = [{ type: 'text', text: block.text }];
      return block.text === '' ? [] : [{ type: 'rich_text_preformatted', elements }];
    }
    case 'quote':
      return sectionOf('rich_text_quote', block.runs);
    case 'list':
      return listsOf(block.items);
    case 'heading':
      return sectionOf('rich_text_section', spaced(block.runs.map(bold), next));
    default:
      return sectionOf('rich_text_section', spaced(block.runs, next));
  }
}

function bold(run: Run): Run {
  return { ...run, bold: true };
}

const FEED: Run = { text: '\n', bold: false, italic: false, strike: false, code: false, url: null };

/** Sections are shown line by line, so a blank line between two paragraphs needs its own break. */
function spaced(runs: readonly Run[], next: Block | undefined): readonly Run[] {
  return next?.kind === 'text' || next?.kind === 'heading' ? [...runs, FEED] : runs;
}

function sectionOf(type: string, runs: readonly Run[]): readonly Element[] {
  return runs.length === 0 ? [] : [{ type, elements: runs.map(elementOf) }];
}

function elementOf({ text, url, ...styles }: Run): Element {
  const set = Object.entries(styles).filter(([, isSet]) => isSet);
  const style = set.length === 0 ? {} : { style: Object.fromEntries(set) };
  return url === null ? { type: 'text', text, ...style } : { type: 'link', url, text, ...style };
}

/** A list contains items of one depth and kind; deeper ones become separate lists between them. */
function listsOf(items: readonly Item[]): readonly Element[] {
  const groups: Item[][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (last?.[0]?.indent === item.indent && last[0].ordered === item.ordered) last.push(item);
    else groups.push([item]);
  }
  return groups.map((group) => {
    const [{ indent, ordered, number } = { indent: 0, ordered: false, number: 1 }] = group;
    return {
      type: 'rich_text_list',
      style: ordered ? 'ordered' : 'bullet',
      indent: Math.min(indent, 8),
      ...(ordered && number > 1 ? { offset: number - 1 } : {}),
      elements: group.map(({ runs }) => ({
        type: 'rich_text_section',
        elements: (runs.length === 0 ? [{ ...FEED, text: ' ' }] : runs).map(elementOf),
      })),
    };
  });
}

function mrkdwn(blocks: readonly Block[]): string {
  return blocks.map(blockText).join('\n\n').trim();
}

function blockText(block: Block): string {
  switch (block.kind) {
    case 'rule':
      return '———';
    case 'code':
      // Three backticks inside the code would end it.
      return `\`\`\`${escapeText(block.text).replaceAll('```', "'''")}\`\`\``;
    case 'quote':
      return styled(block.runs).replace(/^/gm, '> ');
    case 'heading':
      return styled(block.runs.map(bold));
    case 'list':
      return block.items.map(itemText).join('\n');
    default:
      return styled(block.runs);
  }
}

function itemText({ indent, ordered, number, runs }: Item): string {
  return `${'    '.repeat(indent)}${ordered ? `${number}.` : '•'} ${styled(runs)}`;
}

function styled(runs: readonly Run[]): string {
  return runs.map(styledRun).join('');
}

function styledRun({ text, url, bold: isBold, italic, strike, code }: Run): string {
  const core = text.trim();
  if (core === '') return text;
  const before = text.slice(0, text.length - text.trimStart().length);
  const after = text.slice(text.trimEnd().length);
  const marks = [code ? '`' : '', strike ? '~' : '', italic ? '_' : '', isBold ? '*' : ''];
  const inner = escapeText(core);
  const shown = marks.reduce((whole, mark) => mark + whole + mark, inner);
  const linked = url === null ? shown : `<${escapeText(url).replaceAll('|', '%7C')}|${inner.replaceAll('|', '¦')}>`;
  return before + linked + after;
}

const MAX_TEXT = 3_900;
const CUT = '…';
/** An incomplete `&amp;`. */
const HALF_ESCAPE = /&[a-z]{0,3}$/;

/** Cuts an escaped text, never inside an escape. */
export function clipEscaped(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text
    .slice(0, length - 1)
    .replace(HALF_ESCAPE, '')
    .toWellFormed()}${CUT}`;
}

/** Slack interprets three characters; escaped, no name between angle brackets notifies anybody. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
