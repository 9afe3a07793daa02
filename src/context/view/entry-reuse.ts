import type { Entry, Part } from '../../domain/message.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import { yieldToEventLoop } from '../../util/async/event-loop.ts';
import { renderEntry } from './view.ts';

/** Entries per slice, which take less than a millisecond. */
const SLICE = 100;

/**
 * Replaces the entries of a freshly read view by known objects if they are equal, so that caches keyed by entry still
 * apply.
 */
export function recognise(read: ContextSnapshot, known: readonly Entry[]): ContextSnapshot {
  const first = known[0]?.seq ?? 0;
  const tail = read.tail.map((entry) => {
    const same = known[entry.seq - first];
    return same !== undefined && isSame(same, entry) ? same : entry;
  });
  return { ...read, tail };
}

function isSame(a: Entry, b: Entry): boolean {
  return (
    a.seq === b.seq &&
    a.role === b.role &&
    a.turn === b.turn &&
    a.editedAt === b.editedAt &&
    a.redactedAt === b.redactedAt &&
    a.externalId === b.externalId &&
    a.replyTo === b.replyTo &&
    a.at === b.at &&
    a.tokens === b.tokens &&
    a.author?.id === b.author?.id &&
    a.author?.name === b.author?.name &&
    a.author?.kind === b.author?.kind &&
    a.mentions.length === 0 &&
    b.mentions.length === 0 &&
    a.parts.length === b.parts.length &&
    a.parts.every((part, index) => isSameText(part, b.parts[index]))
  );
}

/** Entries with anything but text are never considered equal. */
function isSameText(a: Part, b: Part | undefined): boolean {
  return a.kind === 'text' && b?.kind === 'text' && a.text === b.text;
}

/** Renders every entry in slices, so that this background work does not block the event loop. */
export async function renderInSlices({ tail }: ContextSnapshot, timeZone: string): Promise<void> {
  for (let from = 0; from < tail.length; from += SLICE) {
    for (const entry of tail.slice(from, from + SLICE)) renderEntry(entry, tail, timeZone);
    await yieldToEventLoop();
  }
}
