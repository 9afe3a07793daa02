import { APOSTROPHE, BREAK, HYPHEN, isSeam, KINDS } from '../words/character-kinds.ts';
import { isAscii, partsOf, tokensOf } from '../words/words.ts';
import { createLinks, type PartReader, readComposed, readParts } from './word-parts.ts';

/** What is done with the tokens of a text. ASCII words that are not wanted are only counted. */
export interface TokenReader extends Pick<PartReader, 'isWanted'> {
  /** Called for each token in order. `at` is its place among all tokens. */
  token(token: string, at: number): void;
  /** Called for each wanted part of a word and each hyphenated word as one, near its place. Null if none is wanted. */
  readonly part: ((part: string, at: number) => void) | null;
}

/** Reads the wanted tokens of a text, and returns how many tokens it has: only the wanted ones are copied. */
export function readTokens(text: string, reader: TokenReader): number {
  if (isAscii(text)) return readPlainTokens(text, reader);
  const tokens = tokensOf(text);
  tokens.forEach((token, at) => {
    reader.token(token, at);
  });
  const { isWanted, part } = reader;
  if (part !== null) readParts(text, { isWanted, part: (found) => part(found, tokens.length) });
  return tokens.length;
}

function readPlainTokens(text: string, { isWanted, token, part }: TokenReader): number {
  let count = 0;
  let before = BREAK;
  let start = 0;
  let isParted = false;
  let isComposed = false;
  const parts = part === null ? null : { isWanted, part: (found: string) => part(found, count - 1) };
  const links = parts === null ? null : createLinks(parts);
  const { length } = text;
  for (let at = 0; at <= length; at += 1) {
    const code = at < length ? text.charCodeAt(at) : 0;
    const kind = KINDS[code] ?? BREAK;
    if (kind === before) continue;
    if (kind === APOSTROPHE) isParted = true;
    if (kind === BREAK) {
      if (isParted) for (const word of partsOf(text.slice(start, at).toLowerCase())) token(word, count++);
      else {
        if (isWanted(text, start, at)) token(text.slice(start, at).toLowerCase(), count);
        count += 1;
      }
      if (isComposed && parts !== null) readComposed(text.slice(start, at), parts);
      if (links !== null && (code === HYPHEN || links.isOpen())) links.wordAt(text, start, at);
      isParted = false;
      isComposed = false;
    } else if (before === BREAK) start = at;
    else isComposed ||= isSeam(text, at) || isSeam(text, at - 1);
    before = kind;
  }
  return count;
}

/** The code of the small letter of an ASCII one. */
export function lowerOf(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}
