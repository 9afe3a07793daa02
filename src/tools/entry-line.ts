import { authorLabel, BOT_LABEL, plainName } from '../context/view/label.ts';
import { type Entry, type JsonValue, textOf } from '../domain/message.ts';
import { visibleText } from '../util/text/foreign-text.ts';
import { cutAt } from '../util/text/text.ts';

/** An entry as tools show it: who, when, what, in one object. */
export function lineOf(entry: Entry, length: number): JsonValue {
  const line = originOf(entry);
  if (entry.redactedAt !== null) return { ...line, deleted: true };
  const text = visibleText(saidIn(entry));
  const cut = cutAt(text, length);
  return cut.length < text.length ? { ...line, text: cut, cut: true } : { ...line, text };
}

/** Which message it is, by whom, and when. */
export function originOf({ seq, role, author, at }: Entry) {
  const by = author === null ? (role === 'tool' ? '<tool>' : BOT_LABEL) : authorLabel(author);
  return { message: seq, by, at: new Date(at).toISOString() };
}

function saidIn({ parts }: Entry): string {
  const besides = parts.flatMap((part) => {
    if (part.kind === 'attachment') return [`[file ${plainName(part.name)}]`];
    return part.kind === 'tool-result' ? [part.text] : [];
  });
  return [textOf(parts), ...besides].filter((text) => text !== '').join('\n');
}
