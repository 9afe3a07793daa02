import { styleText } from 'node:util';
import type { CommandSpec } from '../../ports/command.ts';
import type { CommandReply, ReplyCommand, ReplyPage } from '../../ports/reply.ts';
import { formatFields, formatTable } from '../../util/text/table.ts';
import { formatCommand } from './parse.ts';

export interface RenderOptions {
  readonly color: boolean;
  /** The commands of the bot, for the lines that replace buttons and pages. */
  readonly specs: readonly CommandSpec[];
  /** What commands begin with on the platform; `/` by default. */
  readonly prefix?: string;
  /** Cells of the terminal; fields and tables wrap within their columns. By default they take the room they need. */
  readonly width?: number;
}

/** For `styleText`: the caller decides about colour, not the process's output. */
const STYLE = { validateStream: false } as const;

/** A command's reply as plain lines. Actions and pages become lines to type. */
export function renderReply(reply: CommandReply, { color, specs, prefix = '/', width }: RenderOptions): string {
  const title = color ? styleText(reply.tone === 'error' ? ['bold', 'red'] : 'bold', reply.title, STYLE) : reply.title;
  const line = (command: ReplyCommand) => formatCommand(command, specs, prefix);
  const isShort = reply.text !== '' && !reply.text.includes('\n');
  const blocks = [
    isShort ? `${title}${/[.!?]$/.test(reply.title) ? '' : ':'} ${reply.text}` : title,
    isShort ? '' : reply.text,
    reply.fields.length > 0 ? formatFields(reply.fields, width) : '',
    reply.rows === null ? '' : formatTable(reply.rows.columns, reply.rows.cells, width),
    reply.file === null ? '' : reply.file.text.trimEnd(),
    ...pageLines(reply.page, line),
    ...reply.actions.map((action) => `${action.label}: ${line(action.command)}`),
  ];
  return blocks.filter((block) => block !== '').join('\n');
}

function pageLines(page: ReplyPage | null, line: (command: ReplyCommand) => string): readonly string[] {
  if (page === null) return [];
  const words = [
    `Page ${page.number} of ${page.of}`,
    ...(page.next === null ? [] : [`next: ${line(page.next)}`]),
    ...(page.previous === null ? [] : [`previous: ${line(page.previous)}`]),
  ];
  return [words.join('   ')];
}
