import { describe, isStrataError, StrataError } from '../domain/errors.ts';
import type { CommandReply, ReplyCommand, ReplyPage } from '../ports/reply.ts';
import { cleanText } from '../util/text/text.ts';

/** Rows per page of a list: fits a phone, an embed and a block message. */
export const PAGE_SIZE = 8;
/** Characters per page of a long text: below the smallest limit of the platforms. */
export const TEXT_PAGE = 1800;

/** A reply with the usual values: visible only to the asking person, with a neutral tone. */
export function makeReply(title: string, details: Partial<Omit<CommandReply, 'title'>> = {}): CommandReply {
  return {
    title,
    text: '',
    fields: [],
    rows: null,
    page: null,
    actions: [],
    file: null,
    ephemeral: true,
    tone: 'info',
    ...details,
  };
}

/** A text of the given sentences, without empty ones. */
export function sentences(...given: readonly string[]): string {
  return given.filter((sentence) => sentence !== '').join(' ');
}

/**
 * The message that people see for a failure: ours if it is one of our errors, never a stack trace or a foreign message.
 */
export function failureReply(error: unknown, prefix: string): CommandReply {
  const text =
    error instanceof StrataError
      ? describe(withPrefix(error, prefix))
      : 'The command failed because of an internal error; the cause is in the log. Try again.';
  return errorReply(text);
}

/** An error that names a command, in the form people type it in that place. */
function withPrefix(error: StrataError, prefix: string): StrataError {
  for (const code of ['COMMAND_UNKNOWN', 'COMMAND_USAGE', 'COMMAND_FORBIDDEN'] as const) {
    if (isStrataError(error, code)) return new StrataError(code, { ...error.data, prefix });
  }
  return error;
}

/** A one-sentence reply that refuses a command. */
export function errorReply(text: string): CommandReply {
  return makeReply('That did not work', { text, tone: 'error' });
}

export interface Paged<Item> {
  readonly items: readonly Item[];
  /** Null if everything fits on one page. */
  readonly page: ReplyPage | null;
}

/** One page of a list. Throws `USAGE` for a page that does not exist. */
export function takePage<Item>(
  all: readonly Item[],
  wanted: number,
  options: { readonly command: ReplyCommand; readonly size?: number },
): Paged<Item> {
  const size = options.size ?? PAGE_SIZE;
  const of = Math.max(1, Math.ceil(all.length / size));
  if (wanted > of) {
    const known = of === 1 ? 'there is only one page' : `there are ${of} pages`;
    throw new StrataError('USAGE', { problem: `There is no page ${wanted}: ${known}.` });
  }
  const items = all.slice((wanted - 1) * size, wanted * size);
  if (of === 1) return { items, page: null };
  const previous = wanted > 1 ? withPage(options.command, wanted - 1) : null;
  const next = wanted < of ? withPage(options.command, wanted + 1) : null;
  return { items, page: { number: wanted, of, previous, next } };
}

function withPage(command: ReplyCommand, page: number): ReplyCommand {
  return { path: command.path, options: { ...command.options, page: String(page) } };
}

/** The reply with all texts cleaned of control characters. */
export function cleanReply(reply: CommandReply): CommandReply {
  return {
    ...reply,
    title: cleanText(reply.title),
    text: cleanText(reply.text),
    fields: reply.fields.map(({ name, value }) => ({ name: cleanText(name), value: cleanText(value) })),
    rows: reply.rows && {
      columns: reply.rows.columns.map(cleanText),
      cells: reply.rows.cells.map((row) => row.map(cleanText)),
    },
    actions: reply.actions.map((action) => ({ ...action, label: cleanText(action.label) })),
    ...(reply.picture ? { picture: { ...reply.picture, description: cleanText(reply.picture.description) } } : {}),
    file: reply.file && { name: cleanText(reply.file.name), text: cleanText(reply.file.text) },
  };
}
