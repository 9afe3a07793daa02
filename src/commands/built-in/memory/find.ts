import { StrataError } from '../../../domain/errors.ts';
import { MEMORY_STATES, type Memory } from '../../../ports/memory-store.ts';
import { excerpt } from '../../../util/text/text.ts';
import { type Call, requiredOption, type Suggestion } from '../../command.ts';

/** More than anybody pages through. */
export const MAX_LISTED = 1000;

/** Finds a readable memory by its id or an unambiguous prefix. Throws `NOT_FOUND`, `ACCESS_DENIED` or `USAGE`. */
export async function findMemory(call: Call, id = requiredOption(call, 'id')): Promise<Memory> {
  const wanted = id.toLowerCase().slice(0, ID_LENGTH);
  const { services, reader } = call;
  if (wanted.length < ID_LENGTH) {
    const query = { reader, states: MEMORY_STATES, idBeginning: wanted, limit: MAX_LISTED, offset: 0 };
    const fitting = await services.store.memories.list(query);
    const [only, ...more] = fitting;
    if (only !== undefined && more.length > 0) throw ambiguous(wanted, fitting);
    if (only !== undefined) return only;
  }
  return await services.memories.find(wanted, reader);
}

function ambiguous(beginning: string, memories: readonly Memory[]): StrataError {
  const shown = memories.slice(0, MAX_SHOWN_IDS).map(({ id, text }) => `${id} (${excerpt(text, 60)})`);
  const more = memories.length > shown.length ? ', …' : '';
  const problem = `${memories.length} memories have ids that begin with ${beginning}: ${shown.join(', ')}${more}. Use more characters of the id.`;
  return new StrataError('USAGE', { problem });
}

const ID_LENGTH = 26;
const MAX_SHOWN_IDS = 4;

/** Ids of readable memories, as completions. */
export async function suggestIds({ services, reader }: Call): Promise<readonly Suggestion[]> {
  const all = await services.store.memories.list({ reader, states: MEMORY_STATES, limit: 200, offset: 0 });
  return all.map((memory) => ({ label: excerpt(`${memory.kind}: ${memory.text}`, 90), value: memory.id }));
}
