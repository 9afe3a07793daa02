import {
  type CommandReply,
  type CommandSpec,
  type ReplyFile,
  type ReplyPicture,
  renderReply,
} from '../../../../src/adapter-kit.ts';
import { type Button, type ReplyButton, replyButtons } from '../../shared/buttons.ts';
import { clipEscaped, escapeText, type SlackBlock } from '../outbound/format.ts';

const TITLE = 150;
const SECTION = 2900;
const FIELD = 1900;
const FIELDS = 10;
const MAX_BLOCKS = 45;
const MAX_BUTTONS = 25;
const LABEL = 70;
/** Longer values do not fit a button, and even longer ones no menu entry. */
const BUTTON_VALUE = 1900;
const MENU_VALUE = 150;

const SIGNS = { info: '', success: '✅ ', error: '⚠️ ' } as const;

export interface ReplyMessage {
  readonly text: string;
  readonly blocks: readonly SlackBlock[];
  readonly files: readonly (ReplyFile | ReplyPicture)[];
}

export type SignButton = (button: Pick<Button, 'kind' | 'command'>) => string;

/** Text beyond Slack's limits is cut in the message and attached whole as a file. */
export function toMessage(
  reply: CommandReply,
  { sign, ...commands }: { readonly sign: SignButton; readonly specs: readonly CommandSpec[]; readonly prefix: string },
): ReplyMessage {
  const plain = renderReply(reply, { color: false, ...commands });
  const texts = reply.text === '' ? [] : chunks(reply.text);
  const content = [
    { type: 'header', text: { type: 'plain_text', text: clip(`${SIGNS[reply.tone]}${reply.title}`, TITLE) } },
    ...texts.map((text) => ({ type: 'section', text: plainText(text) })),
    ...fieldBlocks(reply),
    ...rowBlocks(reply, sign),
    ...pageBlocks(reply),
  ];
  const buttons = actionsBlock(replyButtons(reply), sign);
  const kept = content.slice(0, MAX_BLOCKS - buttons.length);
  const isCut = kept.length < content.length || reply.fields.some(({ value }) => escapeText(value).length > FIELD);
  const whole = isCut ? [{ name: 'whole.txt', text: plain }] : [];
  const own = reply.file === null ? [] : [reply.file];
  const drawn = reply.picture ? [reply.picture] : [];
  return {
    text: clipEscaped(escapeText(plain), SECTION),
    blocks: [...kept, ...buttons],
    files: [...own, ...drawn, ...whole],
  };
}

/** Slack shows it as it is written, without markup. */
function plainText(text: string) {
  return { type: 'plain_text', text };
}

/** Chunks that fit a section. */
function chunks(text: string): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const character of text) {
    if (piece.length + character.length > SECTION) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  return piece === '' ? pieces : [...pieces, piece];
}

function fieldBlocks({ fields }: CommandReply): readonly SlackBlock[] {
  const all = fields.map(({ name, value }) => ({
    type: 'mrkdwn',
    text: `*${clipEscaped(escapeText(name), 90)}*\n${clipEscaped(addressText(value), FIELD) || '–'}`,
    verbatim: true,
  }));
  const count = Math.ceil(all.length / FIELDS);
  return Array.from({ length: count }, (_, index) => ({
    type: 'section',
    fields: all.slice(index * FIELDS, (index + 1) * FIELDS),
  }));
}

/**
 * One block per row: Slack allows one table per message, without menus. A memory's row has a menu of its commands.
 */
function rowBlocks({ rows, title }: CommandReply, sign: SignButton): readonly SlackBlock[] {
  if (rows === null || rows.cells.length === 0) return [];
  const { columns } = rows;
  const names = { type: 'context', elements: [plainText(clip(columns.join(SEPARATOR), FIELD) || '–')] };
  const lines = rows.cells.map((cells): SlackBlock => {
    const [first = '', ...rest] = cells.map((cell) => cell.replaceAll('\n', ' '));
    const menu = title === 'Memory' && columns[0] === 'ID' ? memoryMenu(first, sign) : null;
    if (menu === null) return rowLine(first, rest, columns);
    const text = [first, ...rest.filter((cell) => cell !== '')].join(SEPARATOR);
    return { type: 'section', text: plainText(clip(text, SECTION)), accessory: menu };
  });
  return [names, ...lines];
}

const SEPARATOR = ' · ';

/** The first cell can be copied, and addresses can be followed. */
function rowLine(first: string, rest: readonly string[], columns: readonly string[]): SlackBlock {
  let left = SECTION;
  const shown = (text: string): string => {
    const part = clip(text, Math.max(1, left));
    left -= part.length;
    return part;
  };
  const elements: object[] = [{ type: 'text', text: shown(first) || '–', style: { code: true } }];
  for (const [index, cell] of rest.entries()) {
    if (cell === '') continue;
    if (isAddress(cell)) {
      const label = columns[index + 1] === 'LINK' ? { text: 'open' } : {};
      elements.push({ type: 'text', text: SEPARATOR }, { type: 'link', url: cell, ...label });
    } else if (left > 0) elements.push({ type: 'text', text: shown(`${SEPARATOR}${cell}`) });
  }
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
}

/** The blocks are verbatim, so Slack creates no links of its own. What people wrote never hides where a link leads. */
function addressText(value: string): string {
  return isAddress(value) ? `<${escapeText(value)}>` : escapeText(value);
}

function isAddress(text: string): boolean {
  return /^https:\/\/[^\s|]+$/.test(text);
}

const MEMORY_MENU = {
  Show: 'show',
  'Where it comes from': 'why',
  Edit: 'edit',
  Pin: 'pin',
  Forget: 'forget',
} as const;

function memoryMenu(id: string, sign: SignButton): object | null {
  const options = Object.entries(MEMORY_MENU).map(([label, sub]) => ({
    text: { type: 'plain_text', text: label },
    value: sign({ kind: 'run', command: { path: ['memory', sub], options: { id } } }),
  }));
  if (options.some(({ value }) => value.length > MENU_VALUE)) return null;
  return { type: 'overflow', action_id: `menu ${id}`, options };
}

function pageBlocks({ page }: CommandReply): readonly SlackBlock[] {
  if (page === null) return [];
  return [{ type: 'context', elements: [plainText(`Page ${page.number} of ${page.of}`)] }];
}

export function actionsBlock(buttons: readonly ReplyButton[], sign: SignButton): readonly SlackBlock[] {
  const elements = buttons
    .map(({ label, style, kind, command }, index) => ({
      type: 'button',
      action_id: `button ${index}`,
      text: { type: 'plain_text', text: clip(label, LABEL) },
      value: sign({ kind, command }),
      ...(style === 'danger' ? { style: 'danger' } : {}),
    }))
    .filter(({ value }) => value.length <= BUTTON_VALUE)
    .slice(0, MAX_BUTTONS);
  return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}

const CUT = '…';

export function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}${CUT}`;
}
