import { authorLabel } from '../context/view/label.ts';
import { type Author, type Entry, textOf } from '../domain/message.ts';

/** Who wrote an entry, for people: a name, `<bot>` or `<tool>`. */
export function shownAuthor({ author, role }: Entry): string {
  return author === null && role === 'tool' ? '<tool>' : shownName(author);
}

/** A person's name, or `<bot>` for null. Names contain no angle brackets, so nobody passes for the bot by its name. */
export function shownName(author: Author | null): string {
  return author === null ? '<bot>' : authorLabel(author);
}

/** An entry as text for people: calls, results and files by name. */
export function shownText(entry: Entry): string {
  if (entry.redactedAt !== null) return '(deleted)';
  const said = textOf(entry.parts);
  const rest = entry.parts.flatMap((part) => {
    if (part.kind === 'attachment') return [`[file ${part.name}]`];
    if (part.kind === 'tool-call') return [`[calls ${part.tool}]`];
    if (part.kind === 'tool-result') return [`[${part.tool}: ${part.text}]`];
    return [];
  });
  return [said, ...rest].filter((text) => text !== '').join(' ');
}
