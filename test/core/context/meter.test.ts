import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/adapter-kit.ts';
import { correctionFor } from '../../../src/context/measure/calibration.ts';
import { estimateRequest } from '../../../src/context/measure/tokens.ts';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import { filler, type Script, scriptedModel } from '../compaction/compaction.world.ts';

/** R9: gate, tiers, `/status`, `/context` and the record of a compaction read one meter. */

const never: Script = () => new Promise(() => undefined);

async function inspected(world: BotWorld) {
  return await world.bot.commandServices.inspect(await world.conversation());
}

/** A request's share of the window by the meter's rule. */
async function weigh(world: BotWorld, request: ModelRequest): Promise<number> {
  const { calibration } = await world.conversation();
  return estimateRequest(request) * correctionFor({ calibration }, 'test:chat');
}

describe('one meter', () => {
  // Shows: P29, R9
  it('measures a call as /status, /context and tiers do', async () => {
    const gaps: number[] = [];
    const chat = scriptedModel(
      async (request) => {
        const { measurement } = await inspected(world);
        const sent = await weigh(world, request);
        gaps.push(Math.abs(measurement.used - measurement.reserve - sent));
        return { text: `Yes, ${filler(40, gaps.length)}`, inputTokens: Math.round(estimateRequest(request) * 1.2) };
      },
      { id: 'test:chat' },
    );
    const model = scriptedModel(never, { id: 'test:summariser', window: 32_000 });
    await using world = await createBotWorld({ models: [chat, model], agent: { compaction: { model: model.id } } });
    for (let count = 1; world.events.every(({ kind }) => kind !== 'maintenance.started'); count += 1) {
      expect(count).toBeLessThan(40);
      await world.say(`Message ${count}: ${filler(60, count)}`);
      await world.settled();
      const { measurement } = await inspected(world);
      const status = await world.command('status');
      const context = await world.command('context list');
      const shown = new RegExp(`~${measurement.used.toLocaleString('en')} of 3,000 tokens .*tier ${measurement.tier}$`);
      expect(status.fields.find(({ name }) => name === 'Used')?.value).toMatch(shown);
      expect(context.text).toMatch(shown);
    }
    // Each region is rounded up once.
    expect(Math.max(...gaps)).toBeLessThan(5);
    const { measurement } = await inspected(world);
    const reached = world.events.findLast((event) => event.kind === 'context.tier');
    expect(reached).toMatchObject({ tier: measurement.tier, window: measurement.window });
    expect(measurement.tier).not.toBe('none');
    // A tier is determined between turns, without sections for a newest message.
    expect(Math.abs((reached?.used ?? 0) - measurement.used)).toBeLessThanOrEqual(measurement.volatile + 5);
  });

  it('is recorded before and after a compaction', async () => {
    const chat = scriptedModel(() => ({ text: filler(40) }), { id: 'test:chat' });
    const summary = { tool: 'summary_save', input: { summary: 'They talked about a garden and a river.' } };
    const model = scriptedModel(() => ({ calls: [summary] }), { id: 'test:summariser', window: 32_000 });
    await using world = await createBotWorld({ models: [chat, model], agent: { compaction: { model: model.id } } });
    let before = 0;
    for (let count = 1; world.events.every(({ kind }) => kind !== 'maintenance.ended'); count += 1) {
      expect(count).toBeLessThan(60);
      before = count === 1 ? 0 : (await inspected(world)).measurement.used;
      await world.say(`Message ${count}: ${filler(60, count)}`);
      await world.settled();
      await world.bot.services.queue.idle();
    }
    const ended = world.events.find((event) => event.kind === 'maintenance.ended');
    const { measurement } = await inspected(world);
    expect(ended?.run).toMatchObject({ work: 'compact', outcome: 'committed' });
    expect(ended?.run.tokensBefore).toBeGreaterThan(before);
    expect(Math.abs((ended?.run.tokensAfter ?? 0) - measurement.used)).toBeLessThanOrEqual(measurement.volatile + 5);
  });
});
