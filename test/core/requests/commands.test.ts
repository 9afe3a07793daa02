import { describe, expect, it } from 'vitest';
import { makeKey } from '../../../src/domain/key.ts';
import type { ConversationKey } from '../../../src/domain/message.ts';
import { ADA, cells, field, openWorld, type World } from '../commands/commands.world.ts';

describe('/why', () => {
  it('shows every part that the newest reply was made from', async () => {
    await using world = await openWorld();
    await world.say('Hello, my name is Ada.');
    await world.say('What is my name?');
    const reply = await world.type('/why');
    expect(reply.title).toBe('Why #4');
    expect(reply.text).toBe('This is exactly what the model saw.');
    expect(field(reply, 'Answered')).toContain('#3');
    const first = await world.type('/why show 2');
    expect(first.title).toBe('Why #2');
    const keys = [...cells(reply), ...cells(await world.type('/why show 4 page=2').catch(() => reply))].map(
      ([key]) => key,
    );
    expect(keys).toContain('tools');
    expect(keys).toContain('#1–#2');
    expect(keys).toContain('#3');
  });

  it('shows what changed since the request before', async () => {
    await using world = await openWorld();
    await world.say('Hello, my name is Ada.');
    await world.say('What is my name?');
    const reply = await world.type('/why changes 4');
    expect(reply.text).toMatch(/^Compared with the request for #2: \d+ changes, \d+ parts? unchanged\.$/u);
    const changed = cells(reply).map(([change, key]) => `${change} ${key}`);
    expect(changed).toContain('added #2');
    expect(changed).toContain('added #3');
    expect(changed).not.toContain('added #1');
  });

  it('shows the text of one part', async () => {
    await using world = await openWorld();
    await world.say('I keep bees.');
    expect((await world.type('/why detail #1')).text).toContain('I keep bees.');
    expect((await world.type('/why detail nothing')).text).toContain('no part of the request');
  });

  it('finds the reply to a message of the platform', async () => {
    await using world = await openWorld();
    await world.say('I keep bees.');
    expect((await world.type('/why show m1')).title).toBe('Why #2');
    expect((await world.type('/why show 99')).text).toContain('#99');
  });

  it('finds a message in the thread that it started', async () => {
    await using world = await openWorld();
    await world.say('Nothing of note.');
    await sayIn(world, keyIn('t1'), ['t1', 'I keep bees.']);
    const reply = await world.type('/why show t1');
    expect(reply.title).toBe('Why #2');
    expect(reply.actions.map(({ command }) => command.options['message'])).toEqual(['t1', 't1']);
    expect((await world.type('/why detail #1 message=t1')).text).toContain('I keep bees.');
    await sayIn(world, keyIn('t1'), ['t2', 'And goats.']);
    expect(JSON.stringify(await world.type('/why changes t2', { conversation: keyIn('t1') }))).toContain('And goats.');
  });

  it('finds a message of the channel from its thread', async () => {
    await using world = await openWorld();
    await world.say('I keep bees.');
    const detail = await world.type('/why detail #1 message=m1', { conversation: keyIn('m1') });
    expect(detail.text).toContain('I keep bees.');
    await world.say('And goats.');
    const reply = await world.type('/why changes m2', { conversation: keyIn('m2') });
    expect(reply.text).toContain('Compared with the request for #2');
    const changed = cells(reply).map(([change, key]) => `${change} ${key}`);
    expect(changed).toContain('added #3');
    expect(changed).not.toContain('added tools');
  });

  it('finds nothing of a private thread or another channel', async () => {
    await using world = await openWorld();
    await sayIn(world, keyIn('t1', true), ['t1', 'I keep bees.']);
    const other = makeKey({ platform: 'test', workspace: 'w', channel: 'other' });
    for (const conversation of [world.place, keyIn('t1'), other]) {
      const reply = await world.type('/why show t1', { conversation });
      expect(reply.text).toContain('no record of a reply t1');
    }
    await world.say('I keep goats.');
    expect((await world.type('/why show m1', { conversation: keyIn('t1', true) })).text).toContain('no record');
  });

  it('refuses ids that no platform gives', async () => {
    await using world = await openWorld();
    await world.say('I keep bees.');
    for (const id of ['x'.repeat(600), 'a:b', '~m1']) {
      expect((await world.type('/why show', { options: { message: id } })).text).toContain('no record of a reply');
    }
  });

  it('hides what was forgotten since', async () => {
    await using world = await openWorld();
    await world.say('The code is swordfish.');
    await world.say('What did I say?');
    await world.bot.sink.removed({ conversation: world.place, externalIds: ['m1'] });
    const reply = await world.type('/why show 4');
    expect(reply.text).toBe('This is what the model saw, except for parts that changed or were deleted since.');
    // It has a row of its own, so that the others are not taken for deleted.
    const rows = cells(reply).filter(([key = '']) => key.startsWith('#'));
    expect(rows.map(([key, , , reason]) => [key, reason?.includes('(deleted since)')])).toEqual([
      ['#1', true],
      ['#2', false],
      ['#3', false],
    ]);
    const detail = await world.type('/why detail #1 message=4');
    expect(detail.text).not.toContain('swordfish');
    expect(detail.text).toContain('(deleted since)');
  });

  it('shows nothing from before a reset', async () => {
    await using world = await openWorld();
    await world.say('The code is swordfish.');
    await world.type('/reset', { rights: 'operator' });
    const reply = await world.type('/why show 2');
    expect(JSON.stringify(reply)).not.toContain('swordfish');
    expect((await world.type('/why detail #1 message=2')).text).toContain('(from before the last reset)');
  });
});

const keyIn = (thread: string, isClosed = false) =>
  makeKey({ platform: 'test', workspace: 'w', channel: 'c', thread, isClosed });

async function sayIn(world: World, conversation: ConversationKey, [externalId, text]: [string, string]): Promise<void> {
  const about = { conversation, externalId, author: ADA, text, audience: 'dm' as const, at: Date.now() };
  await world.bot.sink.message({ ...about, attachments: [], replyTo: null, mentions: [], addressesBot: true });
  await world.bot.settled();
}
