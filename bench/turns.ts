import { type BareStore, openBareStore } from './bare.ts';
import { withDirectory } from './directory.ts';
import { providerOf, replyModel, summaryModel } from './models.ts';
import { appendPast } from './past.ts';
import { createWords } from './words.ts';
import { conversationKey, openWorld, personIn, type World } from './world.ts';

export const PAST_MESSAGES = 200;
export const MEMORIES = 20;
const BLOCK = 25;
/**
 * The writes that a person waits for: storing the message, and storing the turn. Recording the post comes afterwards.
 */
export const COMMITS = 2;

export interface TurnOptions {
  readonly conversations: number;
  readonly blocks: number;
  /** Null for the default of an agent. */
  readonly windowTokens: number | null;
}

export interface TurnTimes {
  readonly ours: readonly number[];
  readonly bare: readonly number[];
}

/** Milliseconds of each turn, and of as many bare commits. */
export async function measureTurns({ conversations, blocks, windowTokens }: TurnOptions): Promise<TurnTimes> {
  const agent = windowTokens === null ? {} : { context_window: windowTokens };
  const ours: number[] = [];
  const bare: number[] = [];
  await withDirectory(async (directory) => {
    const store = openBareStore(directory);
    const world = await openWorld({ directory, agent, models: providerOf(replyModel(), summaryModel(0)) });
    await prepare(world, conversations);
    for (let block = 0; block < blocks; block += 1) {
      // Concurrently, so that other load on the machine affects both.
      for (let name = 0; name < conversations; name += 1) {
        const times = await askBlock(world, { name, block });
        const beside = appendBlock(store);
        // The first block compiles the code.
        if (block > 0) ours.push(...times);
        if (block > 0) bare.push(...beside);
      }
    }
    await world.close();
    store.close();
  });
  return { ours, bare };
}

async function prepare(world: World, conversations: number): Promise<void> {
  const words = createWords(4);
  for (let name = 0; name < conversations; name += 1) {
    const conversation = conversationKey(name);
    await appendPast(world, { conversation, from: 1, count: PAST_MESSAGES, text: () => words.text(30) });
    for (let index = 0; index < MEMORIES; index += 1) {
      const reply = await world.bot.sink.command({
        conversation,
        audience: 'dm',
        author: personIn(conversation),
        rights: 'operator',
        path: ['memory', 'remember'],
        options: { text: `Ada's ${words.text(8)}` },
      });
      if (reply.tone === 'error') throw new Error(reply.text);
    }
  }
}

async function askBlock(world: World, { name, block }: { readonly name: number; readonly block: number }) {
  const words = createWords(block * 100 + name);
  const times: number[] = [];
  for (let index = 0; index < BLOCK; index += 1) {
    times.push(await world.ask(conversationKey(name), { id: `m${block}-${index}`, text: words.text(12) }));
    // Recording the post would share the disk write of the next message and be counted with it.
    await world.bot.settled();
  }
  return times;
}

function appendBlock(store: BareStore): readonly number[] {
  return Array.from({ length: BLOCK }, () => {
    const startedAt = performance.now();
    for (let commit = 0; commit < COMMITS; commit += 1) store.append('What was agreed about the plan for the week?');
    return performance.now() - startedAt;
  });
}
