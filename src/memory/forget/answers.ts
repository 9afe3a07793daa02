import { type Entry, textOfEverything } from '../../domain/message.ts';
import type { Services } from '../../services.ts';
import { sharesScript } from '../admission/grounding.ts';

/** Entries after a message are read in pages, up to this many: others may say a lot before it is answered. */
const PAGE = 40;
const MAX_FOLLOWING = 400;

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
    const answers = answersTo(message, await followingOf(store, conversationId, message.seq));
    found.push(...answers.filter((answer) => isIncomparable(message, answer)));
  }
  return found;
}

/** The entries after a message, until some follow that turn which had read it. */
async function followingOf(store: Services['store'], conversationId: number, seq: number): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for (let fromSeq = seq + 1; fromSeq <= seq + MAX_FOLLOWING; fromSeq += PAGE) {
    const page = await store.transcript.read(conversationId, { fromSeq, toSeq: fromSeq + PAGE - 1, limit: PAGE });
    const isAnswered = found.some(({ turn }) => turn !== null && turn >= seq);
    found.push(...page);
    if (isAnswered || page.length < PAGE) break;
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
