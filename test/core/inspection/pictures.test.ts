import { crc32, inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renderReply } from '../../../src/commands/lines/render.ts';
import { createCanvas } from '../../../src/pictures/canvas.ts';
import { contextPicture } from '../../../src/pictures/context-picture.ts';
import { encodePng } from '../../../src/pictures/png.ts';
import type { Measurement } from '../../../src/ports/engine.ts';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

/** The size and the colours of a PNG file; its checksums must be right. */
function readPng(file: Buffer) {
  expect(file.subarray(0, 8).toString('latin1')).toBe('\u0089PNG\r\n\u001a\n');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    expect(file.readUInt32BE(at + 8 + length)).toBe(crc32(file.subarray(at + 4, at + 8 + length)));
    chunks.set(type, file.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const [width, height] = [chunks.get('IHDR')?.readUInt32BE(0) ?? 0, chunks.get('IHDR')?.readUInt32BE(4) ?? 0];
  const rows = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0));
  const palette = chunks.get('PLTE')?.toString('hex') ?? '';
  expect(rows.length).toBe((width + 1) * height);
  const colourAt = (x: number, y: number): string => {
    const index = rows[y * (width + 1) + 1 + x] ?? 0;
    return `#${palette.slice(index * 6, index * 6 + 6)}`;
  };
  return { width, height, colourAt };
}

const measurement: Measurement = {
  fixed: 200,
  stack: 300,
  tail: 100,
  volatile: 50,
  reserve: 100,
  used: 750,
  window: 1000,
  ratio: 0.75,
  tier: 'none',
  estimated: true,
};
const thresholds = { background: 0.8, aggressive: 0.85, emergency: 0.95 };

describe('a picture', () => {
  it('is a PNG with the drawn points', () => {
    const canvas = createCanvas(
      { width: 9, height: 12 },
      { palette: ['#ffffff', '#ff0000', '#123456'], paper: '#ffffff' },
    );
    canvas.fill({ x: -5, y: 2, width: 7, height: 2 }, '#ff0000');
    canvas.write({ x: 3, y: 4, text: 'I', scale: 1 }, '#123456');
    const { colourAt, ...size } = readPng(encodePng(canvas.pixels()));
    expect(size).toEqual({ width: 9, height: 12 });
    expect([colourAt(0, 1), colourAt(0, 2), colourAt(1, 3), colourAt(2, 3)]).toEqual([
      '#ffffff',
      '#ff0000',
      '#ff0000',
      '#ffffff',
    ]);
    expect([4, 5, 6].map((x) => colourAt(x, 6))).toEqual(['#ffffff', '#123456', '#ffffff']);
  });

  it('shows each region to scale, and says the same', () => {
    const moments = [{ seq: 7, fixed: 200, stack: 0, tail: 100, reserve: 100, used: 400 }];
    const { base64, description } = contextPicture({ measurement, thresholds, moments });
    const { width, colourAt } = readPng(Buffer.from(base64, 'base64'));
    const along = Array.from({ length: width - 48 }, (_, x) => colourAt(24 + x, 80));
    const share = (colour: string) => along.filter((each) => each === colour).length / along.length;
    for (const [colour, part] of Object.entries({ '#64708a': 0.2, '#7a4fc9': 0.3, '#0c7f83': 0.1, '#b36a00': 0.05 }))
      expect(share(colour)).toBeCloseTo(part, 2);
    expect(description).toBe(
      '~75 % of 1,000 tokens: fixed 200, summaries 300, messages 100, recalled 50, answer 100. Thresholds at 80 %, 85 %, 95 %. From message #7 to #7 it was between 40 % and 40 %.',
    );
  });

  it('can be drawn of any figures', () => {
    const tokens = fc.integer({ min: 0, max: 3_000_000 });
    const region = { fixed: tokens, stack: tokens, tail: tokens, reserve: tokens, used: tokens };
    const moment = fc.record({ seq: fc.nat(), ...region });
    const any = fc.record({
      window: tokens,
      volatile: tokens,
      ratio: fc.double({ min: 0, max: 9, noNaN: true }),
      ...region,
    });
    fc.assert(
      fc.property(any, fc.array(moment, { maxLength: 200 }), (given, moments) => {
        const figures = { measurement: { ...measurement, ...given }, thresholds, moments };
        readPng(Buffer.from(contextPicture(figures).base64, 'base64'));
      }),
      { numRuns: 20 },
    );
  });
});

describe('/context picture', () => {
  let world: BotWorld;
  beforeEach(async () => {
    world = await createBotWorld({ models: [scriptedModel(() => ({ text: 'I see.' }))] });
  });
  afterEach(async () => {
    await world[Symbol.asyncDispose]();
  });

  it('is offered by both commands without people’s text', async () => {
    expect((await world.command('context picture')).picture ?? null).toBeNull();
    await world.say('The lantern is green.');
    await world.settled();
    for (const path of ['status', 'context list']) {
      const { actions, picture = null } = await world.command(path);
      expect(actions.map(({ command }) => command.path.join(' '))).toContain('context picture');
      expect(picture).toBeNull();
    }
    const reply = await world.command('context picture');
    expect(reply).toMatchObject({ ephemeral: true, picture: { mediaType: 'image/png' } });
    expect(readPng(Buffer.from(reply.picture?.base64 ?? '', 'base64')).width).toBe(720);
    expect(reply.text).not.toContain('lantern');
    expect(renderReply(reply, { color: false, specs: [] })).toContain('From message #1 to #2');
  });
});
