import type { Author, Entry } from '../../domain/message.ts';
import { oneLine } from '../../util/text/foreign-text.ts';
import { localTime, UTC } from '../../util/time/local-time.ts';
import { headOf } from '../measure/truncate.ts';

const MAX_NAME = 64;
/** Characters of labels, with every Unicode bracket except round ones. Names never contain them. */
const LABEL_MARKS = /[[\p{Ps}\p{Pe}]--[\(\)\uff08\uff09]]|[\|<>#]/gv;

/** The bot's name in listings. Names of people cannot contain angle brackets. */
export const BOT_LABEL = '<you>';

/**
 * `[#12 | 2026-11-20 Fri 10:00 | Ada | reply to #9] `: author and time of a message. A fixed zone keeps it the same in
 * every view.
 */
export function labelOf(entry: Entry, replySeq: number | null, timeZone: string = UTC): string {
  const reply = replySeq === null ? '' : ` | reply to #${replySeq}`;
  const edited = entry.editedAt === null ? '' : ' | edited';
  return `[#${entry.seq} | ${timeLabel(entry.at, timeZone)} | ${authorLabel(entry.author)}${reply}${edited}] `;
}

/** The name with a mark if it is a bot's: webhooks and bots may take the names of people. */
export function authorLabel(author: Author | null): string {
  const name = plainName(author?.name ?? '');
  return author?.kind === 'bot' ? `${name} <bot>` : name;
}

/** A name on one line that cannot be mistaken for anything else. */
export function plainName(name: string): string {
  const plain = oneLine(name)
    .replace(/[^\p{ASCII}]/gu, (character) => (isLabelMark(character.normalize('NFKC')) ? '' : character))
    .replace(LABEL_MARKS, '')
    .replace(/\s+/gu, ' ')
    .trim();
  return headOf(plain, MAX_NAME).trim() || 'unnamed';
}

/** `2026-11-20 Fri 10:00` */
export function timeLabel(at: number, timeZone: string = UTC): string {
  const local = localTime(at, timeZone);
  return local === null ? 'unknown time' : `${local.date} ${local.weekday.slice(0, 3)} ${local.time}`;
}

/** `Friday, 2026-11-20 10:00 UTC`: with the weekday, "next Friday" is a date. */
export function clockText(at: number, timeZone: string): string {
  const local = localTime(at, timeZone);
  return local === null ? 'unknown' : `${local.weekday}, ${local.date} ${local.time} ${timeZone}`;
}

function isLabelMark(text: string): boolean {
  return /[[\]|<>#]/u.test(text);
}

const LABEL = /^\s{0,8}\[#\d{1,12} \| [^|\]\n]{1,40} \| [^\]\n]{1,160}\]\s{0,4}/;

/** A text of a model without a label of ours before it, as in `[#12 | 2026-11-20 Fri 10:00 | Ada] `. */
export function withoutLabel(text: string): string {
  return text.slice(LABEL.exec(text)?.[0].length ?? 0);
}
