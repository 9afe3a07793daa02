const LETTER = '[\\p{L}\\p{M}\\p{N}_]';
const EDGE = `(?:(?<=${LETTER})(?!${LETTER})|(?<!${LETTER})(?=${LETTER}))`;

/** The expression with edges of words in all scripts: `\b` knows only ASCII letters, and finds no edge at "é". */
export function withWordEdges(expression: RegExp): RegExp {
  return new RegExp(expression.source.replaceAll('\\b', EDGE), expression.flags);
}
