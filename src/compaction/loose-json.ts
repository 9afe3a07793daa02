/** The value of JSON as models write it; undefined for anything else. */
export function looseJson(text: string): unknown {
  return parse(text) ?? parse(text.replace(TEXT_OR_LAST_COMMA, (found) => (found === ',' ? '' : escaped(found))));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
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
