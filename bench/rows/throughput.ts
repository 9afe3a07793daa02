import { openBareStore } from '../bare.ts';
import { withDirectory } from '../directory.ts';
import type { RowOptions, RowResult } from '../figure.ts';
import { providerOf, replyModel, summaryModel } from '../models.ts';
import { median } from '../samples.ts';
import { createWords } from '../words.ts';
import { conversationKey, openWorld, type World } from '../world.ts';

const CONVERSATIONS = 200;
const APPENDS = 2000;

/** Turns per second of one process with the model at 0 ms, compared with plain durable appends. */
export async function throughput({ quick }: RowOptions): Promise<RowResult> {
  const rounds = quick ? 2 : 5;
  const turns = quick ? 5 : 10;
  const ours: number[] = [];
  const bare: number[] = [];
  await withDirectory(async (directory) => {
    const store = openBareStore(directory);
    const world = await openWorld({ directory, models: providerOf(replyModel(), summaryModel(0)) });
    // The first round creates the conversations and compiles the code.
    for (let round = 0; round <= rounds; round += 1) {
      const turnRate = await rate(CONVERSATIONS * turns, () => converse(world, { round, turns }));
      const appendRate = await rate(APPENDS, async () => {
        for (let index = 0; index < APPENDS; index += 1) store.append('What was agreed about the plan for the week?');
      });
      if (round > 0) ours.push(turnRate);
      if (round > 0) bare.push(appendRate);
    }
    await world.close();
    store.close();
  });
  return {
    figures: [
      {
        figure: 'turns a second, one process, model at 0 ms',
        unit: 'a second',
        baseline: { of: 'bare durable appends', value: median(bare) },
        ours: median(ours),
        bar: { of: 'ours', is: 'above', value: 2000 },
      },
    ],
    notes: [
      `Median of ${rounds} rounds with ${CONVERSATIONS * turns} turns each in ${CONVERSATIONS} conversations at once. A turn makes three durable commits: the message, the reply, and the record that it was posted. Concurrent commits share a disk write.`,
    ],
  };
}

async function rate(count: number, work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (count * 1000) / (performance.now() - startedAt);
}

async function converse(world: World, { round, turns }: { readonly round: number; readonly turns: number }) {
  const talk = async (name: number) => {
    const words = createWords(round * CONVERSATIONS + name);
    for (let index = 0; index < turns; index += 1) {
      await world.ask(conversationKey(name), { id: `m${round}-${index}`, text: words.text(12) });
    }
  };
  await Promise.all(Array.from({ length: CONVERSATIONS }, (_, name) => talk(name)));
}
