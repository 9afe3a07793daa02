import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, makeKey } from '../../src/adapter-kit.ts';
import { ModelError } from '../../src/domain/errors.ts';
import { type Script, scriptedModel } from '../core/compaction/compaction.world.ts';
import { BOB, type BotWorld, createBotWorld } from '../support/bot-world.ts';

const SECRET = 'swordfish';
const ELSEWHERE = makeKey({ platform: 'test', workspace: 'here', channel: 'elsewhere' });

/** Answers with much text, and the secret in its middle. */
const notes = defineTool({
  name: 'notes',
  description: 'Reads the notes',
  input: z.object({}),
  run: async () => `${'lorem ipsum '.repeat(4000)} ${SECRET} ${'dolor sit '.repeat(500)}`,
});

function worldWith(script: Script): Promise<BotWorld> {
  const models = [scriptedModel(script, { id: 'test:chat' })];
  return createBotWorld({ models, agent: { tools: ['notes'] }, tools: [notes] });
}

/** The text around the secret in the store's files. */
function found({ directory }: BotWorld): readonly string[] {
  const files = readdirSync(directory).filter((name) => name.includes('.db'));
  return files.flatMap((name) => {
    const [before = '', ...places] = readFileSync(join(directory, name)).toString('latin1').split(SECRET);
    return places.map(() => `${name}: ${before.slice(-80)}`);
  });
}

describe('text that was deleted', () => {
  const deletions: Readonly<Record<string, (world: BotWorld) => Promise<unknown>>> = {
    'on its platform': (world) => world.bot.sink.removed({ conversation: world.key, externalIds: ['a1'] }),
    'by command': (world) => world.command('memory forget', { id: '#1', confirm: 'yes' }),
  };
  it.each(Object.keys(deletions))('is in no long tool result when deleted %s', async (how) => {
    await using world = await worldWith((request) => {
      const newest = JSON.stringify(request.messages.at(-1));
      return newest.includes('look it up') ? { calls: [{ tool: 'notes', input: {} }] } : { text: 'Noted.' };
    });
    await world.say(`my password is ${SECRET}`, { id: 'a1' });
    await world.settled();
    await world.say('look it up');
    await world.settled();
    expect(found(world)).not.toEqual([]);
    await deletions[how]?.(world);
    await world.settled();
    expect(found(world)).toEqual([]);
  });

  it('is in no error of a model that failed', async () => {
    await using world = await worldWith((request) => {
      const said = JSON.stringify([request.system, request.messages]);
      if (!said.includes(SECRET)) return { text: 'Hello.' };
      throw new ModelError({ model: 'test:chat', reason: 'fatal', detail: `bad content: "my password is ${SECRET}"` });
    });
    await world.say('hello', { key: ELSEWHERE, author: BOB });
    await world.say(`my password is ${SECRET}`, { id: 'a1' });
    await world.settled();
    for (let attempt = 0; attempt < 6; attempt += 1) await world.command('compact').catch(() => undefined);
    const status = { author: BOB, rights: 'operator', path: ['status'], options: {} } as const;
    for (const key of [world.key, ELSEWHERE]) {
      const shown = await world.bot.sink.command({ conversation: key, audience: 'private', ...status });
      expect(JSON.stringify(shown)).not.toContain(SECRET);
    }
    expect(JSON.stringify(world.events)).not.toContain(SECRET);
    await world.bot.sink.removed({ conversation: world.key, externalIds: ['a1'] });
    await world.settled();
    expect(found(world)).toEqual([]);
  });
});
