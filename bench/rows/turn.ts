import type { AgentOverrides } from '../../src/config/defaults.ts';
import { type BareStore, openBareStore } from '../bare.ts';
import { withDirectory } from '../directory.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { providerOf, replyModel, summaryModel } from '../models.ts';
import { appendPast } from '../past.ts';
import { percentile } from '../samples.ts';
import { createWords } from '../words.ts';
import { conversationKey, openWorld, type World } from '../world.ts';

const PAST_MESSAGES = 200;
const MEMORIES = 20;
const BLOCK = 25;
/**
 * The writes that a person waits for: storing the message, and storing the turn. Recording the post comes afterwards.
 */
const COMMITS = 2;

/** A settled view of this size: each turn shows all of it, and compaction keeps up in the background. */
const FILLED_WINDOW = 6000;

/** Time from the arrival of a message to the post of its reply, with the model at 0 ms: the framework's own time. */
export async function turn(options: RowOptions): Promise<RowResult> {
  const short = await measure(options, {});
  const filled = await measure(options, { context_window: FILLED_WINDOW });
  const figure = (percent: number, barMs: number | null): Figure => ({
    figure: `framework time a turn, p${percent}`,
    unit: 'ms',
    baseline: { of: `${COMMITS} bare commits`, value: percentile(short.bare, percent) },
    ours: percentile(short.ours, percent),
    bar: barMs === null ? null : { of: 'ours', is: 'below', value: barMs },
  });
  return {
    figures: [
      figure(50, 1),
      figure(95, null),
      figure(99, 3),
      {
        figure: `with a filled window of ${FILLED_WINDOW.toLocaleString('en')} tokens, p50`,
        unit: 'ms',
        baseline: { of: `${COMMITS} bare commits`, value: percentile(filled.bare, 50) },
        ours: percentile(filled.ours, 50),
        bar: { of: 'ours', is: 'below', value: 1.5 },
      },
    ],
    notes: [
      `${short.ours.length} turns, one at a time, in ${conversationsOf(options)} conversations with ${PAST_MESSAGES} messages and ${MEMORIES} memories behind them, each when all of the one before is stored; every commit is on the disk (WAL, synchronous = full).`,
      'The filled window holds as much of the same past as fits; summaries are written beside the turns as it fills again.',
    ],
  };
}

function conversationsOf({ quick }: RowOptions): number {
  return quick ? 4 : 12;
}

async function measure(options: RowOptions, agent: AgentOverrides) {
  const conversations = conversationsOf(options);
  const blocks = options.quick ? 3 : 8;
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
        author: { id: 'ada', name: 'Ada', kind: 'person' },
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
