import type { Memory, MemoryChange } from '../../ports/memory-store.ts';
import type { Services } from '../../services.ts';
import { mentionsName } from '../people/people.ts';
import { isOwnWording } from '../rights/own-wording.ts';
import { inPlaceOf, type Requester } from '../rights/permissions.ts';
import { fingerprintOf } from '../statements/fingerprint.ts';
import {
  assertNobodyPaused,
  assertNotForgotten,
  concernedIn,
  isRule,
  othersNamedIn,
  statementOf,
  stateOf,
} from './add.ts';
import { wordedByHooks } from './hooked.ts';

interface NewWords {
  readonly text: string;
  readonly by: Requester;
}

/**
 * The change that rewords a memory. The person who words a statement is its source: an order becomes an instruction,
 * which requires the permission to give one, and a text that newly names another person is no longer a statement about
 * oneself.
 * Throws `USAGE`, `LEARNING_PAUSED` and `HOOK_REFUSED`.
 */
export async function rewording(
  services: Pick<Services, 'store' | 'state' | 'hooks' | 'random' | 'clock' | 'events'>,
  memory: Memory,
  { text: given, by: asker }: NewWords,
): Promise<MemoryChange> {
  const by = inPlaceOf(memory, asker);
  const worded = await wordedByHooks(services, by, { text: statementOf(given), importance: null });
  const text = statementOf(worded.text);
  const isAboutAsker = memory.subjectId === by.author.id;
  // People may correct what is about them, even while they paused learning.
  const subject = isAboutAsker
    ? { subjectId: null, subjectName: by.author.name }
    : { subjectId: memory.subjectId, subjectName: null };
  await assertNobodyPaused(services, { text, ...subject, isOwn: isAboutAsker }, by);
  const { named, called } = await othersNamedIn(services.store, text, by);
  await assertNotForgotten(services, by.reader.place, { text, people: concernedIn(memory, { named }, by) });
  const names = [...named.map(({ name }) => name), ...(called === null ? [] : [called])];
  const namesMore = names.some((name) => !mentionsName(memory.text, name));
  // An earlier edit may have named them first.
  const isAboutOthers = namesMore || (names.length > 0 && (await isOwnWording(services.store.memories, memory, by)));
  const trust = by.rights === 'operator' ? 'operator' : isAboutAsker && !isAboutOthers ? 'self' : 'other';
  const isNewRule = memory.kind !== 'instruction' && isRule(text, by);
  const kind = isNewRule ? 'instruction' : memory.kind;
  const isJudged = memory.state === 'active' && (isNewRule || namesMore);
  return {
    text,
    fingerprint: fingerprintOf(text),
    trust,
    ...(isNewRule ? { kind } : {}),
    // A state that does not change is left out: the memory may have been rejected by now.
    ...(isJudged ? { state: stateOf(kind, trust, by) } : {}),
  };
}
