import { nestsTooDeeply } from '../../models/call-input.ts';

/** The value of JSON as models write it; undefined for anything else, and for what nests too deeply to be read. */
export function looseJson(text: string): unknown {
  return parse(text) ?? parse(text.replace(TEXT_OR_LAST_COMMA, (found) => (found === ',' ? '' : escaped(found))));
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return nestsTooDeeply(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

const TEXT_OR_LAST_COMMA = /"(?:[^"\\]|\\.)*"?|,(?=\s*[}\]])/gsu;
const ESCAPES = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** A text in quotation marks without the line breaks that JSON does not allow. */
function escaped(quoted: string): string {
  return quoted.replace(/[\n\r\t]/gu, (character) => ESCAPES.get(character) ?? character);
}
