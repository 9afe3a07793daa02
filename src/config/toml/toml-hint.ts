/** Where the parser stopped. */
interface Stop {
  readonly reason: string;
  /** The whole line, and what it assigns: from the column, if no key is in the line. */
  readonly line: string;
  readonly value: string;
  /** From the column to the end of the line. */
  readonly rest: string;
}

const KEY = /^\s*[\w."'-]+\s*$/u;
const MAX_LINE_CHARACTERS = 1_000;

/**
 * What to write instead, for mistakes that TOML does not forgive: the parser only says that something is invalid. Shows
 * no text that the file contains, which may be a secret, only numbers and words such as `True`.
 */
export function tomlHint(
  text: string,
  at: { readonly reason: string; readonly line: number; readonly column: number },
) {
  const line = (text.split('\n')[at.line - 1] ?? '').slice(0, MAX_LINE_CHARACTERS).trimEnd();
  const rest = line.slice(at.column - 1);
  const value = withoutComment(assignedIn(line) ?? rest);
  const stop = { reason: at.reason, line, value, rest };
  for (const hint of HINTS) {
    const found = hint(stop);
    if (found !== null) return found;
  }
  return '';
}

function assignedIn(line: string): string | null {
  const at = line.indexOf('=');
  return at > 0 && KEY.test(line.slice(0, at)) ? line.slice(at + 1).trim() : null;
}

function withoutComment(value: string): string {
  const at = value.indexOf(' #');
  return at < 0 ? value : value.slice(0, at).trimEnd();
}

/** The likeliest mistake first. */
const HINTS: readonly ((stop: Stop) => string | null)[] = [
  pluginTable,
  header,
  comment,
  colon,
  curlyQuote,
  numberOrWord,
  missingQuote,
  backslash,
  innerQuote,
  openList,
  leadingZero,
  bareText,
];

/** TOML does not allow a table and a list with the same key. */
function pluginTable({ line }: Stop): string | null {
  if (!line.trimStart().startsWith('[plugins.')) return null;
  return '; remove the list `plugins`, and set the file in this table: file = "./name.ts"';
}

function header({ line }: Stop): string | null {
  const [, open = '', name = '', close = ''] = /^\s*(\[{1,2})([\w.-]+)(\]*)\s*(?:#.*)?$/u.exec(line) ?? [];
  if (name === '' || open.length === close.length) return null;
  const closed = `${open}${name}${']'.repeat(open.length)}`;
  return close.length > open.length ? `; write [[${name}]] or ${closed}` : `; write ${closed}`;
}

function comment({ line }: Stop): string | null {
  return /^\s*(?:\/\/|--|;)/u.test(line) ? '; comments begin with #' : null;
}

function colon({ line, reason }: Stop): string | null {
  if (!reason.includes('in key')) return null;
  const key = /^\s*([\w.-]+)\s*:/u.exec(line)?.[1];
  return key === undefined ? null : `; write = after the key: ${key} = …`;
}

function curlyQuote({ value, rest }: Stop): string | null {
  return /^[“”„«‘’‚`´]/u.test(value) || /^[“”„«‘’‚`´]/u.test(rest) ? '; write straight quotes: " or \'' : null;
}

function numberOrWord({ value, rest }: Stop): string | null {
  for (const came of [value, /^[^\s,\]}]*/u.exec(rest)?.[0] ?? '']) {
    const meant = numberFor(came) ?? wordFor(came);
    if (meant !== null) return `, got ${came}; ${meant}`;
  }
  return null;
}

/** Longer ones may be secrets. */
const MAX_NUMBER_CHARACTERS = 12;

function numberFor(came: string): string | null {
  if (came.length > MAX_NUMBER_CHARACTERS) return null;
  const percent = /^(\d+(?:\.\d+)?)\s*%$/u.exec(came)?.[1];
  if (percent !== undefined) return `write ${Number((Number(percent) / 100).toPrecision(12))}`;
  // Groups of three are thousands, unless nothing is before them.
  const joined = /^[+-]?[1-9]\d{0,2}(?:[, ]\d{3})+$/u.test(came)
    ? came.replaceAll(/[, ]/gu, '')
    : came.replace(',', '.');
  const [, sign = '', whole = '', fraction] = /^([+-]?)(\d*)(?:\.(\d*))?$/u.exec(joined) ?? [];
  if ((whole === '' && !fraction) || (fraction === undefined && joined === came)) return null;
  const digits = whole.replace(/^0+(?=\d)/u, '') || '0';
  const meant = `${sign}${digits}${fraction === undefined ? '' : `.${fraction || '0'}`}`;
  return meant === came ? null : `write ${meant}`;
}

function wordFor(came: string): string | null {
  const word = came.toLowerCase();
  if (['true', 'yes', 'on'].includes(word) && came !== 'true') return 'write true';
  if (['false', 'no', 'off'].includes(word) && came !== 'false') return 'write false';
  return ['null', 'none', 'nil', '~'].includes(word) ? 'leave the key out for its default' : null;
}

function missingQuote({ reason, rest }: Stop): string | null {
  const isOpen = reason === 'unfinished string' || (reason.startsWith('control characters') && rest === '');
  return isOpen ? '; the closing quote is missing' : null;
}

function backslash({ reason, line }: Stop): string | null {
  if (!reason.includes('escape') || !line.includes('\\')) return null;
  return "; write each backslash twice, or put the text into '…'";
}

function innerQuote({ value, reason }: Stop): string | null {
  const [quote = ''] = value;
  if (!reason.includes('end-of-line') || !['"', "'"].includes(quote) || value.split(quote).length < 4) return null;
  return quote === '"' ? '; write each inner " as \\"' : "; a text with ' in it needs double quotes";
}

function openList({ reason }: Stop): string | null {
  return reason.startsWith('expected comma or end') ? '; a comma or a closing ] or } is missing before this' : null;
}

function leadingZero({ reason }: Stop): string | null {
  return reason === 'illegal leading zero' ? '; write the number without it, or put a text into quotes' : null;
}

function bareText({ reason, rest }: Stop): string | null {
  if (reason !== 'invalid value') return null;
  if (rest === '') return '; a value is missing after =';
  return /^[\p{L}./$@~\\_-]/u.test(rest) ? '; put texts into quotes: "…"' : null;
}
