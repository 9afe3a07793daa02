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
    ...texts.map((text) => section(text)),
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

function section(text: string, more: object = {}): SlackBlock {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true }, ...more };
}

/** Chunks whose escaped text fits a section. */
function chunks(text: string): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const character of text) {
    const next = escapeText(character);
    if (piece.length + next.length > SECTION) {
      pieces.push(piece);
      piece = '';
    }
    piece += next;
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
 * One section per row: Slack allows one table per message, without menus. A memory's row has a menu of its commands.
 */
function rowBlocks({ rows, title }: CommandReply, sign: SignButton): readonly SlackBlock[] {
  if (rows === null) return [];
  return rows.cells.map((cells) => {
    const [first = '', ...rest] = cells.map((cell) => cell.replaceAll('\n', ' '));
    const shown = rest.map((cell, index) => (rows.columns[index + 1] === 'LINK' ? linkText(cell) : addressText(cell)));
    const line = [`\`${escapeText(first.replaceAll('`', "'")) || '–'}\``, ...shown.filter((cell) => cell !== '')];
    const menu = title === 'Memory' && rows.columns[0] === 'ID' ? memoryMenu(first, sign) : null;
    return section(clipEscaped(line.join(' · '), SECTION), menu === null ? {} : { accessory: menu });
  });
}

/** The address of a message. */
function linkText(cell: string): string {
  return isAddress(cell) ? `<${escapeText(cell)}|open>` : escapeText(cell);
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
  return [{ type: 'context', elements: [{ type: 'plain_text', text: `Page ${page.number} of ${page.of}` }] }];
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
