import type { Audience } from '../../../domain/message.ts';
import type { WithheldMemory } from '../../../ports/provenance-store.ts';
import { formatTime } from '../../../util/text/text.ts';
import { type Call, typed } from '../../command.ts';

/** Memories about the asking person that are stored in places they can't read from here. */
export function withheldFor({ services, invocation, reader }: Call): Promise<readonly WithheldMemory[]> {
  return services.memories.withheld(invocation.author.id, reader);
}

/** Mentions the memories that a list leaves out; empty if there are none. */
export function withheldLine(call: Call, count: number): string {
  if (count === 0) return '';
  const which = count === 1 ? 'One more memory about you is' : `${count} more memories about you are`;
  return `${which} stored where you can't read ${count === 1 ? 'it' : 'them'} from here: ${typed(call, 'memory list about=me')}.`;
}

/** A row in a list of memories that shows its existence without its text. */
export function withheldRow({ id, kind, state, audience, createdAt }: WithheldMemory, { invocation }: Call) {
  const what = `(not readable here: stored in ${PLACES[audience]} since ${formatTime(createdAt)})`;
  return [id, kind, what, invocation.author.name, state];
}

const PLACES: Readonly<Record<Audience, string>> = {
  dm: 'a direct message',
  private: 'a private channel',
  public: 'another channel',
};
