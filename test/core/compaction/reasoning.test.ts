import { describe, expect, it } from 'vitest';
import { reasoningRoom } from '../../../src/compaction/ask/reasoning.ts';
import { answerTokens } from '../../../src/compaction/job/room.ts';
import type { Effort, ModelRequest } from '../../../src/ports/model.ts';
import { createWorld, faithful, filler, type Said, scriptedModel, type World } from './compaction.world.ts';

const WINDOW = 32_000;
const REASONING = 3000;

/** Reasons before it answers, within the same limit as the answer. */
async function reasoner(request: ModelRequest, said: Said): Promise<Said> {
  const left = request.maxOutputTokens - REASONING;
  const spent = { reasoningTokens: Math.min(REASONING, request.maxOutputTokens) };
  if (left < answerTokens(WINDOW))
    return { ...spent, text: '', finish: 'length', outputTokens: request.maxOutputTokens };
  return { ...said, ...spent };
}

async function talk(world: World): Promise<void> {
  await world.say('FACT Ada keeps four bees.');
  for (let index = 1; index <= 12; index += 1) {
    await world.exchange(`Message ${index}: ${filler(50, index)}`, `Answer ${index}: ${filler(50, index + 3)}`);
  }
}

describe('a summariser that reasons', () => {
  it('gets room for reasoning besides its answer', async () => {
    const model = scriptedModel(async (request, options) => await reasoner(request, await faithful(request, options)), {
      window: WINDOW,
    });
    await using world = await createWorld({ model });
    await talk(world);
    expect((await world.run()).changed).toBe(true);
    const [first, second] = model.requests;
    expect(first?.maxOutputTokens).toBe(answerTokens(WINDOW));
    expect(second?.maxOutputTokens).toBeGreaterThanOrEqual(answerTokens(WINDOW) + REASONING);
    expect((await world.snapshot()).stack[0]?.text).toContain('Ada keeps four bees');
  });

  it('reasons as much as the agent sets', async () => {
    const model = scriptedModel(faithful, { window: WINDOW });
    await using world = await createWorld({ model, agent: { effort: 'high', compaction: { effort: 'low' } } });
    await talk(world);
    await world.run();
    expect(new Set(model.requests.map(({ effort }) => effort))).toEqual(new Set(['low']));
    expect(model.requests[0]?.maxOutputTokens).toBeGreaterThan(answerTokens(WINDOW));
  });

  it('leaves the effort of replies to the replies', async () => {
    await using world = await createWorld({ agent: { effort: 'high' } });
    await talk(world);
    await world.run();
    expect(world.model.requests.every(({ effort }) => effort === undefined)).toBe(true);
  });

  it('never takes more than a quarter of the window', () => {
    const room = (windowTokens: number, effort?: Effort) =>
      reasoningRoom({
        model: { id: 'a:b' },
        windowTokens,
        settings: effort === undefined ? {} : { effort },
        reasoning: new Map([['a:b', 100_000]]),
      });
    expect([room(2000), room(8000, 'none'), room(1_000_000, 'max')]).toEqual([500, 2000, 16_384]);
  });
});
