import type { Entry } from '../domain/message.ts';
import type { Services } from '../services.ts';
import { sharesScript } from './grounding.ts';
import { textOfEverything } from './vocabulary.ts';

/** Number of entries after a message that can contain its answer. */
const FOLLOWING = 40;

/**
 * What the bot answered to messages whose words cannot show whether it repeats them: an edited message said something
 * else at the time, and another script shares no words with it.
 */
export async function incomparableAnswers(
  { store }: Pick<Services, 'store'>,
  conversationId: number,
  messages: readonly Entry[],
): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for (const message of messages) {
    const range = { fromSeq: message.seq + 1, toSeq: message.seq + FOLLOWING, limit: FOLLOWING };
    const answers = answersTo(message, await store.transcript.read(conversationId, range));
    found.push(...answers.filter((answer) => isIncomparable(message, answer)));
  }
  return found;
}

/** The entries of the first turn that had read the message, if their text still exists. */
function answersTo({ seq }: Entry, following: readonly Entry[]): readonly Entry[] {
  const turns = following.flatMap(({ turn }) => (turn !== null && turn >= seq ? [turn] : []));
  const first = Math.min(...turns);
  return following.filter(({ turn, redactedAt }) => turn === first && redactedAt === null);
}

function isIncomparable(message: Entry, answer: Entry): boolean {
  if (message.editedAt !== null && answer.at <= message.editedAt) return true;
  return !sharesScript(textOfEverything(message), textOfEverything(answer));
}
