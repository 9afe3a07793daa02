import { styleText } from 'node:util';
import type { CommandSpec } from '../ports/command.ts';
import type { CommandReply, ReplyPage } from '../ports/reply.ts';
import { formatFields, formatTable } from '../util/table.ts';
import { formatCommand } from './parse.ts';

export interface RenderOptions {
  readonly color: boolean;
  /** The commands of the bot, for the lines that replace buttons and pages. */
  readonly specs: readonly CommandSpec[];
}

/** For `styleText`: the caller decides about colour, not the process's output. */
const STYLE = { validateStream: false } as const;

/** A command's reply as plain lines. Actions and pages become lines to type. */
export function renderReply(reply: CommandReply, { color, specs }: RenderOptions): string {
  const title = color ? styleText(reply.tone === 'error' ? ['bold', 'red'] : 'bold', reply.title, STYLE) : reply.title;
  const isShort = reply.text !== '' && !reply.text.includes('\n');
  const blocks = [
    isShort ? `${title}${/[.!?]$/.test(reply.title) ? '' : ':'} ${reply.text}` : title,
    isShort ? '' : reply.text,
    reply.fields.length > 0 ? formatFields(reply.fields) : '',
    reply.rows === null ? '' : formatTable(reply.rows.columns, reply.rows.cells),
    reply.file === null ? '' : reply.file.text.trimEnd(),
    ...pageLines(reply.page, specs),
    ...reply.actions.map((action) => `${action.label}: ${formatCommand(action.command, specs)}`),
  ];
  return blocks.filter((block) => block !== '').join('\n');
}

function pageLines(page: ReplyPage | null, specs: readonly CommandSpec[]): readonly string[] {
  if (page === null) return [];
  const words = [
    `Page ${page.number} of ${page.of}`,
    ...(page.next === null ? [] : [`next: ${formatCommand(page.next, specs)}`]),
    ...(page.previous === null ? [] : [`previous: ${formatCommand(page.previous, specs)}`]),
  ];
  return [words.join('   ')];
}
