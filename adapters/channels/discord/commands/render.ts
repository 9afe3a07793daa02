import { ButtonStyle, ComponentType } from 'discord.js';
import { type CommandReply, type CommandSpec, renderReply } from '../../../../src/adapter-kit.ts';
import { type ReplyButton, replyButtons } from '../../shared/buttons.ts';
import { type DescribedFile, fileOf, NO_PINGS } from '../outbound/post.ts';

const TITLE = 256;
const DESCRIPTION = 4000;
const FIELD_NAME = 256;
const FIELD_VALUE = 1024;
const FIELDS = 25;
/** Discord's limit of characters for the whole embed. */
const EMBED = 5900;
const LABEL = 80;
const PER_ROW = 5;
const ROWS = 5;

const COLORS = { info: 0x5865f2, success: 0x2d7d46, error: 0xc03537 } as const;

/** A message that shows a reply, before its buttons have their ids. */
export interface ReplyMessage {
  readonly embed: Embed;
  readonly buttons: readonly ReplyButton[];
  readonly files: readonly DescribedFile[];
}

export interface Embed {
  readonly title: string;
  /** Omitted if it would be empty. */
  readonly description?: string;
  readonly color: number;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly footer?: { readonly text: string };
}

/** Text beyond Discord's limits is cut in the message and attached whole as a file. */
export function toMessage(reply: CommandReply, specs: readonly CommandSpec[]): ReplyMessage {
  const description = [plain(reply.text), rowsOf(reply)].filter((text) => text !== '').join('\n\n');
  const fields = reply.fields.map(({ name, value }) => ({ name: plain(name) || '–', value: plain(value) || '–' }));
  const embed = within({
    title: clip(plain(reply.title), TITLE),
    ...(description === '' ? {} : { description }),
    color: COLORS[reply.tone],
    fields,
    ...(reply.page === null ? {} : { footer: { text: `Page ${reply.page.number} of ${reply.page.of}` } }),
  });
  const isCut =
    (embed.description ?? '') !== description || embed.fields.length < fields.length || embed.fields.some(wasClipped);
  const whole = isCut ? [fileOf({ name: 'whole.txt', text: renderReply(reply, { color: false, specs }) })] : [];
  const own = reply.file === null ? [] : [fileOf(reply.file)];
  const { picture = null } = reply;
  const drawn =
    picture === null
      ? []
      : [{ ...fileOf({ kind: 'attachment', ...picture, text: '' }), description: picture.description }];
  return { embed, buttons: replyButtons(reply).slice(0, PER_ROW * ROWS), files: [...own, ...drawn, ...whole] };
}

function wasClipped({ value }: { readonly value: string }): boolean {
  return value.endsWith(CUT);
}

const CUT = '…';

function within(embed: Embed): Embed {
  const description = clip(embed.description ?? '', DESCRIPTION);
  let left = EMBED - embed.title.length - description.length - (embed.footer?.text.length ?? 0);
  const fields: { name: string; value: string }[] = [];
  for (const field of embed.fields.slice(0, FIELDS)) {
    const cut = { name: clip(field.name, FIELD_NAME), value: clip(field.value, FIELD_VALUE) };
    left -= cut.name.length + cut.value.length;
    if (left < 0) break;
    fields.push(cut);
  }
  return { ...embed, ...(description === '' ? {} : { description }), fields };
}

/** One line per row: Discord does not render tables, and wide ones break on phones. The first cell can be copied. */
function rowsOf({ rows }: CommandReply): string {
  if (rows === null) return '';
  const head = `-# ${rows.columns.map(plain).join(' · ')}`;
  const lines = rows.cells.map(([first = '', ...rest]) => {
    const filled = rest.filter((cell) => cell !== '').map(plain);
    return [`\`${first.replaceAll('`', "'") || '–'}\``, ...filled].join(' · ').replaceAll('\n', ' ');
  });
  return [head, ...lines].join('\n');
}

/** URLs and server emojis: an underscore in them is part of a name. */
const NAMES = /(https?:\/\/\S+|<a?:\w{1,40}:\d{1,20}>)/;

/** Text that Discord shows as written. The library's own function takes quadratic time. */
function plain(text: string): string {
  const marked = text
    .split(NAMES)
    .map((part, index) => part.replace(index % 2 === 0 ? /[\\*_`]|~~|\|\||\]\(/g : /[\\*`]|~~|\|\||\]\(/g, escaped))
    .join('');
  return marked.replace(/^( *)(#{1,3} |- )/gm, '$1\\$2').replace(/^( *\d{1,9})\./gm, '$1\\.');
}

/** Escapes each of two marks; in the middle of a link, escaping the first character is enough. */
function escaped(marks: string): string {
  return marks === '](' ? '\\](' : [...marks].map((mark) => `\\${mark}`).join('');
}

export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).toWellFormed()}${CUT}`;
}

export interface Sealed {
  readonly button: ReplyButton;
  readonly customId: string;
}

/** The body of the message, its buttons in rows of five. */
export function bodyOf({ embed }: Pick<ReplyMessage, 'embed'>, buttons: readonly Sealed[]) {
  return { embeds: [embed], components: rowsOfButtons(buttons), allowed_mentions: NO_PINGS };
}

function rowsOfButtons(buttons: readonly Sealed[]) {
  const rows = Array.from({ length: Math.ceil(buttons.length / PER_ROW) }, (_, index) =>
    buttons.slice(index * PER_ROW, (index + 1) * PER_ROW),
  );
  return rows.map((row) => ({
    type: ComponentType.ActionRow,
    components: row.map(({ button: { label, style }, customId }) => ({
      type: ComponentType.Button,
      label: clip(label, LABEL),
      style: style === 'danger' ? ButtonStyle.Danger : ButtonStyle.Secondary,
      custom_id: customId,
    })),
  }));
}
