const QUOTED = /^(["'`]).*\1$/s;
/** What headers cannot contain, and no key has. */
const NO_KEY = /[^!-~]/u;
/** Blanks, invisible characters and typographic quotation marks, as a copied address may have them. */
const NO_ADDRESS = /[\s\p{Cc}\p{Cf}\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb]/u;

/** Why a text cannot be a key or token of a service, without the text; null if it can. */
export function keyFault(text: string): string | null {
  return faultOf(text, NO_KEY);
}

/** The same for a URL, whose password may have letters of any script. */
export function addressFault(text: string): string | null {
  return faultOf(text, NO_ADDRESS);
}

function faultOf(text: string, refused: RegExp): string | null {
  if (QUOTED.test(text)) return 'is in quotation marks: remove them';
  const [found] = refused.exec(text) ?? [];
  return found === undefined ? null : `contains ${nameOf(found)}, probably from copying: set it again`;
}

function nameOf(character: string): string {
  if (character === ' ') return 'a space';
  if (character === '\n' || character === '\r') return 'a line break';
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? `${character} (U+${code})` : `the invisible character U+${code}`;
}
