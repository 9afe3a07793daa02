import { type Entry, textOfEverything } from '../../domain/message.ts';
import type { Services } from '../../services.ts';
import { sharesScript } from '../admission/grounding.ts';
import { mentionsPerson } from '../people/first-names.ts';

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
    const around = await surroundingsOf(store, conversationId, message.seq);
    found.push(...answersTo(message, around).filter((answer) => isIncomparable(message, answer)));
  }
  return found;
}

/** Some entries before a message, itself, and those after it until some follow that turn which had read it. */
async function surroundingsOf(
  store: Services['store'],
  conversationId: number,
  seq: number,
): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for (let fromSeq = Math.max(1, seq - PAGE); fromSeq <= seq + MAX_FOLLOWING; fromSeq += PAGE) {
    const page = await store.transcript.read(conversationId, { fromSeq, toSeq: fromSeq + PAGE - 1, limit: PAGE });
    const isAnswered = found.some(({ turn }) => turn !== null && turn >= seq);
    found.push(...page);
    if (isAnswered || page.length < PAGE) break;
  }
  return found;
}

/** The entries of the first turn that had read the message, as far as they answer it and their text still exists. */
function answersTo(message: Entry, around: readonly Entry[]): readonly Entry[] {
  const turns = around.flatMap(({ turn }) => (turn === null ? [] : [turn]));
  const first = Math.min(...turns.filter((turn) => turn >= message.seq));
  const before = Math.max(0, ...turns.filter((turn) => turn < message.seq));
  const asking = around.filter(({ seq, role, wantsReply }) => {
    return role === 'user' && wantsReply && seq > before && seq <= first;
  });
  const answers = around.filter(({ turn, redactedAt }) => turn === first && redactedAt === null);
  if (isAmongAskers(message, asking)) return answers;
  const name = message.author?.name ?? '';
  return answers.filter((answer) => mentionsPerson(textOfEverything(answer), name));
}

/** Whether the turn answered the author. What it answered to others does not belong to a member who spoke in between. */
function isAmongAskers({ author, wantsReply }: Entry, asking: readonly Entry[]): boolean {
  if (wantsReply || author === null || asking.length === 0) return true;
  return asking.some((other) => other.author?.id === author.id);
}

function isIncomparable(message: Entry, answer: Entry): boolean {
  if (message.editedAt !== null && answer.at <= message.editedAt) return true;
  return !sharesScript(textOfEverything(message), textOfEverything(answer));
}
