import type { Entry } from '../domain/message.ts';
import { headOf } from './truncate.ts';

const MAX_NAME = 64;
/** What opens a line of ours: written by a person at the start of a line, it gets a backslash. */
const FORGED = /^([^\S\n]*)\[(?=#\d|system:|summary |recalled |current time)/gim;

/** `[#12 | 2026-11-20 10:00 | Ada | reply to #9] `: who wrote a message and when, in UTC so that it never changes. */
export function labelOf(entry: Entry, replySeq: number | null): string {
  const reply = replySeq === null ? '' : ` | reply to #${replySeq}`;
  const edited = entry.editedAt === null ? '' : ' | edited';
  return `[#${entry.seq} | ${timeLabel(entry.at)} | ${authorLabel(entry)}${reply}${edited}] `;
}

function authorLabel(entry: Entry): string {
  const name = plainName(entry.author?.name ?? '');
  return entry.author?.kind === 'bot' ? `${name} (bot)` : name;
}

/** A name as one line that cannot be taken for anything but a name. */
export function plainName(name: string): string {
  const plain = name
    .toWellFormed()
    .replace(/[[\]|<>#]/g, '')
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
  return headOf(plain, MAX_NAME) || 'unnamed';
}

export function timeLabel(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? 'unknown time' : time.toISOString().slice(0, 16).replace('T', ' ');
}

/** Text of a person in which no line can pass for a label, a summary or a note of the system. */
export function harmless(text: string): string {
  return text.includes('[') ? text.replace(FORGED, '$1\\[') : text;
}
