import { describe, expect, it } from 'vitest';
import { createBotWorld } from '../../support/bot-world.ts';
import { filler, type Script, scriptedModel } from '../compaction/compaction.world.ts';

const WINDOW = 2000;

/** The summary model is away, so only emergencies change the view. */
const alone: Script = ({ purpose }, { count }) => {
  if (purpose !== 'reply') throw new Error('away');
  return { text: filler(30, count) };
};

describe.each([0, 1, 4])('a message larger than the window, after %i turns', (turns) => {
  it.each([2, 20])('opens one gap, once it can leave: %i windows', async (windows) => {
    const model = scriptedModel(alone, { id: 'test:chat', window: WINDOW });
    await using world = await createBotWorld({ models: [model], agent: { context_window: WINDOW } });
    const gaps = () => world.events.flatMap((event) => (event.kind === 'gap.opened' ? [event] : []));
    const said = async (text: string) => {
      await world.say(text);
      await world.settled();
      return JSON.stringify(model.requests.findLast(({ purpose }) => purpose === 'reply')?.messages);
    };
    for (let turn = 0; turn < turns; turn += 1) await said(`Fact ${turn}. ${filler(15, turn)}`);
    const seen = await said(`The list. ${filler(WINDOW * windows, 99)}`);
    expect(gaps()).toEqual([]);
    expect(seen).toContain('The list.');
    expect(seen).toContain('characters left out');
    if (turns > 0) expect(seen).toContain('Fact 0.');
    expect(await said('Thanks, that is all.')).not.toContain('The list.');
    await said('And what now?');
    expect(gaps()).toMatchObject([{ fromSeq: 1, reason: 'emergency' }]);
    expect(world.events.filter(({ kind }) => kind === 'turn.failed')).toEqual([]);
  });
});
