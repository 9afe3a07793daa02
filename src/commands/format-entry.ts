import { type Author, type Entry, textOf } from '../domain/message.ts';

export function whoSaid(entry: Entry): string {
  if (entry.author !== null) return shownName(entry.author);
  return entry.role === 'tool' ? 'tool' : 'bot';
}

/** Webhooks and bots may take the names of people. */
export function shownName({ name, kind }: Author): string {
  return kind === 'bot' ? `${name} <bot>` : name;
}

/** An entry as text for people: calls, results and files by name. */
export function sayOf(entry: Entry): string {
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
