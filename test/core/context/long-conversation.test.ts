import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type ModelRequest } from '../../../src/adapter-kit.ts';
import { estimateRequest } from '../../../src/context/measure/tokens.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { SIZED, sized, sizedLimitMs } from '../../support/size.ts';
import { faithful, filler, type Script, scriptedModel } from '../compaction/compaction.world.ts';

const TURNS = sized({ small: 60, full: 500 });
const picture = { kind: 'attachment', name: 'photo.png', mediaType: 'image/png', sizeBytes: 90_000 } as const;

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks something up in a catalogue.',
  input: z.object({ rows: z.int() }),
  run: async ({ rows }) => Array.from({ length: rows }, (_, row) => `row ${row}: ${filler(12, row)}`).join('\n'),
});

function lastText({ messages }: ModelRequest): string {
  const last = messages.at(-1);
  return last?.role === 'user' ? JSON.stringify(last.content) : '';
}

/** Looks up or opens what the newest message asks for, and answers at some length. */
const talkative: Script = (request, options) => {
  if (request.purpose !== 'reply') return faithful(request, options);
  const inputTokens = estimateRequest(request);
  const said = lastText(request);
  const rows = Number(/look up (\d+)/u.exec(said)?.[1] ?? 0);
  if (rows > 0) return { calls: [{ tool: 'look_up', input: { rows } }], inputTokens };
  const seq = /\[#(\d+) [^\]]*\] Open/u.exec(said)?.[1];
  if (seq !== undefined) {
    return { calls: [{ tool: 'message_open', input: { message: Math.max(1, Number(seq) - 40) } }], inputTokens };
  }
  return { text: filler(10 + (options.count % 60), options.count), inputTokens };
};

/** Small talk, long pastes, look-ups, images, and talk that nobody answers. */
async function nextTurn(world: Awaited<ReturnType<typeof createBotWorld>>, turn: number, window: number) {
  if (turn % 6 === 5) for (let i = 0; i < 3; i += 1) await world.say(filler(25, turn + i), { asks: false });
  const text = filler(5 + ((turn * 13) % 70), turn);
  if (turn % 23 === 22) return await world.say(filler(window * (1 + (turn % 3)), turn));
  if (turn % 11 === 10) return await world.say(`Open what was said before. ${text}`);
  if (turn % 4 === 3) return await world.say(`Please look up ${1 + ((turn * 37) % 900)} rows.`);
  if (turn % 7 !== 6) return await world.say(text);
  return await world.say(text, { attachments: [{ ...picture, reference: `https://files.example/${turn}.png` }] });
}

function shares(reply: unknown): readonly number[] {
  return [...JSON.stringify(reply).matchAll(/\((\d+) %\)/gu)].map((match) => Number(match[1]));
}

it.each([2000, 4000, 8000])(
  'no turn of a window of %i is refused',
  { ...SIZED, timeout: sizedLimitMs(3_000_000) },
  async (window) => {
    const plain = scriptedModel(talkative, { id: 'test:chat', window });
    const model = Object.assign(plain, { traits: { windowTokens: window, tools: true, images: true } });
    const summariser = scriptedModel(talkative, { window: 32_000 });
    const agent = {
      context_window: window,
      max_output_tokens: window / 8,
      tools: ['look_up', 'message_open', 'blob_read', 'memory_save', 'transcript_search'],
      compaction: { model: summariser.id },
    };
    await using world = await createBotWorld({ models: [model, summariser], agent, tools: [lookUp] });
    const { queue } = world.bot.services;
    for (let turn = 0; turn < TURNS; turn += 1) {
      await nextTurn(world, turn, window);
      await world.settled();
      for (const request of model.requests) {
        expect(estimateRequest(request) + request.maxOutputTokens).toBeLessThanOrEqual(window);
      }
      model.requests.length = 0;
      summariser.requests.length = 0;
      if (turn % 10 !== 9) continue;
      for (const reply of [await world.command('status'), await world.command('context list')]) {
        expect(shares(reply).length).toBeGreaterThan(0);
        expect(Math.max(...shares(reply))).toBeLessThanOrEqual(100);
      }
      await queue.idle();
    }
    const failed = world.events.filter(({ kind }) => kind === 'turn.failed' || kind === 'maintenance.delayed');
    expect(failed).toEqual([]);
    expect(world.events.filter(({ kind }) => kind === 'turn.ended')).toHaveLength(TURNS);
    for (const event of world.events) {
      if (event.kind === 'context.tier') expect(event.used).toBeLessThanOrEqual(window);
    }
    for (const kind of ['tool.called', 'maintenance.ended'] as const) {
      expect(world.events.some((event) => event.kind === kind)).toBe(true);
    }
    await queue.idle();
    const { measurement } = await world.bot.commandServices.inspect(await world.conversation());
    expect(measurement.tier).toBe('none');
  },
);
