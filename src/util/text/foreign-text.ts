import { normalForm } from './normal-form.ts';

/** Every character that some reader treats as a line break. */
const LINE_BREAKS = /\r\n|[\r\n\v\f\u0085\u2028\u2029]/gu;
/**
 * Invisible characters. Joiners and two variation selectors are not among them, because emoji and several scripts need
 * them; neither are format characters that show a sign before a number.
 */
const INVISIBLE =
  /[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]--[\n\t\u200c\u200d\ufe0e\ufe0f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]]/gv;
/** Matches most texts, which then need no cleaning. */
const PLAIN = /^[\n\t -~\u00a1-\u00ac\u00ae-\u02ff]*$/u;
/** Brackets except round and curly ones: text that starts with one must not follow a label on its line. */
const BRACKET = /^(?:<|(?![({])\p{Ps})/u;
const INDENT = '  ';

/** The text without invisible and control characters; lines end with `\n`. */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.toWellFormed().replace(LINE_BREAKS, '\n').replace(INVISIBLE, '');
}

/**
 * Visible text with every line except the first indented. Labels start at the margin, so an indented line cannot be
 * mistaken for one.
 */
export function indentLines(text: string): string {
  const visible = visibleText(text);
  return visible.includes('\n') ? visible.replaceAll('\n', `\n${INDENT}`) : visible;
}

/** A label with its text; only the label starts at the margin. */
export function underLabel(label: string, text: string): string {
  const shown = indentLines(text);
  const [first = ''] = shown.split('\n', 1);
  return BRACKET.test(normalForm(first.trimStart(), 'NFKC'))
    ? `${label.trimEnd()}\n${INDENT}${shown}`
    : `${label}${shown}`;
}

/** Visible text with every line indented, for use after a heading. */
export function indentAll(text: string): string {
  return `${INDENT}${indentLines(text)}`;
}

/** Text by someone other than the sender, under a heading. Every line of it is marked. */
export function quoted(heading: string, text: string): string {
  return `[${heading}]\n> ${visibleText(text).replaceAll('\n', '\n> ')}`;
}

/** White space that is not a single space. */
const GAP = /[^\S ]| {2}/u;

/** Visible text on one line. */
export function oneLine(text: string): string {
  const visible = visibleText(text);
  return (GAP.test(visible) ? visible.replace(/\s+/gu, ' ') : visible).trim();
}
