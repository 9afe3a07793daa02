import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SIZED, spread } from '../support/size.ts';
import { createModelServer } from './model-server.ts';
import { type BotProcess, createTown, type Town } from './town.ts';

/** Every step of an unasked message in which the process is killed with -9. */
const DEATHS = [
  'before a message is stored',
  'after a message is stored',
  'a post arrives',
  'a post is taken',
  'before a post is known to be sent',
  'after a post is known to be sent',
];
const LIMIT_MS = 60_000;

describe('a message that the bot sends unasked', () => {
  it('is stored and posted once, wherever the process is killed', { ...SIZED, timeout: 600_000 }, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strata-send-'));
    await using server = await createModelServer();
    let onMoment = (_moment: string): void => undefined;
    const town = createTown({ directory, server, onPost: (moment) => onMoment(moment) });
    const deaths = spread(DEATHS, 3);
    for (const death of deaths) {
      const isMoment = death.startsWith('a post');
      const bot = await town.start({ killAt: isMoment ? '' : death, spare: 1 });
      onMoment = (moment) => {
        if (isMoment && moment === death && town.sends.size % 2 === 0) bot.kill();
      };
      await sendUntilDeath(town, bot, death);
      onMoment = () => undefined;
    }
    const last = await town.start({});
    await town.send(last, LIMIT_MS);
    await last.stop();
    expect(town.troubles).toEqual([]);
    const texts = [...town.sends.values()].map(({ text }) => text);
    expect(town.sends.size).toBeGreaterThan(deaths.length);
    expect([...town.posts.values()].map(({ text }) => text).toSorted()).toEqual(texts.toSorted());
    expect(storedTexts(directory).toSorted()).toEqual(texts.toSorted());
    await rm(directory, { recursive: true, force: true });
  });
});

async function sendUntilDeath(town: Town, bot: BotProcess, death: string): Promise<void> {
  for (let count = 0; count < 6 && !bot.isOver; count += 1) await town.send(bot, LIMIT_MS);
  if (!bot.isOver) bot.kill();
  expect(await bot.ended, `the step "${death}" was not reached`).toBe('SIGKILL');
}

function storedTexts(directory: string): readonly string[] {
  const database = new Database(join(directory, 'strata.db'));
  const rows = database.prepare("select parts from entry where role = 'assistant' order by seq").all();
  database.close();
  const parts = z.array(z.object({ text: z.string() }));
  return z
    .array(z.object({ parts: z.string() }))
    .parse(rows)
    .flatMap((row) => parts.parse(JSON.parse(row.parts)).map(({ text }) => text));
}
