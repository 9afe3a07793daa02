import type { Author, Part } from '../../domain/message.ts';
import { oneLine } from '../../util/text/foreign-text.ts';
import { cleanText } from '../../util/text/text.ts';

/** Cleans parts before they are stored: removes control characters, escape sequences and bidirectional overrides. */
export function cleanParts(parts: readonly Part[]): readonly Part[] {
  return parts.map((part) => {
    switch (part.kind) {
      case 'text':
      case 'tool-result':
        return { ...part, text: cleanText(part.text) };
      case 'attachment':
        return { ...part, name: oneLine(part.name), mediaType: oneLine(part.mediaType) };
      case 'tool-call':
        return part;
      default:
        return part satisfies never;
    }
  });
}

/** A name without invisible characters, on one line. */
export function cleanAuthor(author: Author): Author {
  const name = oneLine(author.name);
  return name === author.name ? author : { ...author, name };
}
