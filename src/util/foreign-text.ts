/** Everything that some reader takes for the end of a line. */
const LINE_BREAKS = /\r\n|[\r\n\v\f\u0085\u2028\u2029]/gu;
/**
 * Every character that prints nothing. Joiners and two variation selectors stay, because emoji and several scripts are
 * spelt with them; so do the format characters that print a sign in front of a number.
 */
const INVISIBLE =
  /[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]--[\n\t\u200c\u200d\ufe0e\ufe0f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]]/gv;
/** Most text: nothing in it has to be removed. */
const PLAIN = /^[ -~\u00a1-\u00ac\u00ae-\u02ff]*$/u;
/** Brackets of any kind but round and curly ones: no text that starts with one may follow a label on its line. */
const BRACKET = /^(?:<|(?![({])\p{Ps})/u;
const INDENT = '  ';

/** The text without invisible and control characters; lines end with `\n`. */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.toWellFormed().replace(LINE_BREAKS, '\n').replace(INVISIBLE, '');
}

/** Visible text with every line but the first indented. Labels start at the margin, so no such line can pass for one. */
export function indentLines(text: string): string {
  const visible = visibleText(text);
  return visible.includes('\n') ? visible.replaceAll('\n', `\n${INDENT}`) : visible;
}

/** A label with the text it introduces: only the label starts at the margin. */
export function underLabel(label: string, text: string): string {
  const shown = indentLines(text);
  const [first = ''] = shown.split('\n', 1);
  return BRACKET.test(first.trimStart().normalize('NFKC'))
    ? `${label.trimEnd()}\n${INDENT}${shown}`
    : `${label}${shown}`;
}

/** Visible text with every line indented, for what follows a heading. */
export function indentAll(text: string): string {
  return `${INDENT}${indentLines(text)}`;
}

/** Visible text as one line. */
export function oneLine(text: string): string {
  return visibleText(text).replace(/\s+/gu, ' ').trim();
}
