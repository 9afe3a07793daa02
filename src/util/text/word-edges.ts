const LETTER = '[\\p{L}\\p{M}\\p{N}_]';
const EDGE = `(?:(?<=${LETTER})(?!${LETTER})|(?<!${LETTER})(?=${LETTER}))`;

/**
 * The expression with edges of words in all scripts: `\b` knows only ASCII letters, and finds no edge at "é". Built by
 * the first call of what it returns, because that takes milliseconds which most commands do not need.
 */
export function withWordEdges(expression: RegExp): () => RegExp {
  let built: RegExp | null = null;
  return () => {
    built ??= new RegExp(expression.source.replaceAll('\\b', EDGE), expression.flags);
    return built;
  };
}
