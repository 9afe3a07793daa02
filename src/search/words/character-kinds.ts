/** Kinds of characters in words, found in a table, because questions read many texts. */
export const BREAK = 0;
const SMALL = 1;
const CAPITAL = 2;
const DIGIT = 3;
/** A letter or a mark beyond ASCII. */
const OTHER = 4;
export const APOSTROPHE = 5;

export const HYPHEN = 0x2d;
/** Latin letters with accents begin here, and signs that are no letters here. */
const LETTERS = 0xc0;
const SIGNS = 0x2000;
/** Of the characters up to `LETTERS`. */
export const KINDS = Uint8Array.from({ length: LETTERS }, (_, code) => plainKind(code));

function plainKind(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return SMALL;
  if (code >= 0x41 && code <= 0x5a) return CAPITAL;
  if (code >= 0x30 && code <= 0x39) return DIGIT;
  return code === 0x27 ? APOSTROPHE : BREAK;
}

/** `BREAK` for what is not in a word, and after the end of the text. */
export function kindAt(text: string, at: number): number {
  if (at >= text.length) return BREAK;
  const code = text.charCodeAt(at);
  if (code < LETTERS) return KINDS[code] ?? BREAK;
  return code < SIGNS ? OTHER : BREAK;
}

/** Whether another word begins at `at`, inside of one: "getUser", "HTTPServer". */
export function isSeam(text: string, at: number): boolean {
  if (kindAt(text, at) !== CAPITAL) return false;
  const before = kindAt(text, at - 1);
  return before === SMALL || (before === CAPITAL && kindAt(text, at + 1) === SMALL && kindAt(text, at + 2) === SMALL);
}

/** Whether a hyphen at `at` links two words. */
export function isLink(text: string, at: number): boolean {
  return text.charCodeAt(at) === HYPHEN && kindAt(text, at + 1) !== BREAK;
}
