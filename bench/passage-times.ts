import { withQuestion } from '../src/context/preview.ts';
import { passagesFor } from '../src/search/passages/recall-passages.ts';
import { fillSqlite } from './bulk-sqlite.ts';
import { providerOf, replyModel, summaryModel } from './models.ts';
import { createWords } from './words.ts';
import { conversationKey, withWorld } from './world.ts';

const NAME = 'long';
const SENTENCE_WORDS = 12;
const QUESTION_WORDS = 5;
/** Until the code is compiled. */
const WARM_UP = 50;

/** Stores one conversation, most of which is summarised. */
export async function fillLong(directory: string, entries: number): Promise<void> {
  const said = createWords(1);
  await fillSqlite(directory, [{ name: NAME, entries, isSummarised: true, text: () => said.text(SENTENCE_WORDS) }]);
}

/** Milliseconds that the search for passages adds to each reply to a question in the stored conversation. */
export async function passageTimes(directory: string, rounds: number): Promise<readonly number[]> {
  return await withWorld({ directory, models: providerOf(replyModel(), summaryModel(0)) }, async ({ bot }) => {
    const { services } = bot;
    const conversation = await services.store.conversations.find(conversationKey(NAME));
    const view = await services.store.transcript.context(conversation?.id ?? 0, { maxEntries: 200 });
    if (view === null) throw new Error('The conversation is missing');
    const agent = services.agents.agentFor(view.conversation.key);
    const words = createWords(7);
    const times: number[] = [];
    for (let round = 0; round < WARM_UP + rounds; round += 1) {
      const { snapshot, newest } = withQuestion(view, `When did ${words.text(QUESTION_WORDS)}?`, { now: Date.now() });
      const startedAt = performance.now();
      await passagesFor(services, { agent, snapshot, waiting: [newest] });
      times.push(performance.now() - startedAt);
    }
    return times.slice(WARM_UP);
  });
}
