import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { makeKey } from '../../../src/domain/key.ts';
import type { Author, ConversationKey } from '../../../src/domain/message.ts';
import type { CommandInvocation } from '../../../src/ports/channel.ts';
import { ADA, BO, cells, field, openWorld, type World } from './commands.world.ts';

/** Who may use a command, and what it takes from whom. */

const MANAGING = [
  '/compact',
  '/memory held',
  '/memory release x',
  '/memory strike x',
  '/privacy erase yes',
  '/reset',
  '/summaries rewrite x',
] as const;
const REFUSED = 'is for the people who manage this place';
const ELSEWHERE = {
  conversation: makeKey({ platform: 'test', workspace: 'w', channel: 'public' }),
  audience: 'public',
} as const;

describe('what changes a place for everybody', () => {
  it('is not for its members', async () => {
    await using world = await openWorld({ audience: 'public' });
    await world.say('My name is Ada.');
    for (const line of MANAGING) expect((await world.type(line)).text, line).toContain(REFUSED);
    for (const line of MANAGING)
      expect((await world.type(line, { audience: 'private' })).text, line).toContain(REFUSED);
    expect((await world.type('/transcript search Ada')).text).toContain('match');
  });

  it('is for moderators, and for everybody in a direct message', async () => {
    await using world = await openWorld({ audience: 'public' });
    for (const as of [{ rights: 'moderator' }, { audience: 'dm' }] as const) {
      for (const line of MANAGING) expect((await world.type(line, as)).text, line).not.toContain(REFUSED);
    }
  });

  it('is asked about first if it cannot be undone', async () => {
    await using world = await openWorld();
    const asked = world.bot.commands.specs.flatMap(({ name, actions }) =>
      actions.filter(({ irreversible }) => irreversible).map((action) => `/${name} ${action.name}`.trim()),
    );
    expect(asked).toEqual(expect.arrayContaining(['/memory strike', '/privacy erase', '/reset']));
  });
});

describe('the newest messages', () => {
  it('are read for memories by moderators, and wait for members', async () => {
    await using world = await openWorld({ audience: 'public' });
    await world.say('My name is Ada and I prefer tea.');
    for (const line of ['/memory list', '/memory search tea', '/memory forget me']) {
      const reply = await world.type(line);
      expect([line, cells(reply).filter(([what]) => what !== 'message')]).toEqual([line, []]);
    }
    expect((await world.type('/memory list')).text).toContain('when the conversation pauses');
    expect(cells(await world.type('/memory list', { rights: 'moderator' })).length).toBeGreaterThan(0);
  });
});

describe('/privacy', () => {
  it('counts what is about the asker', async () => {
    await using world = await openWorld({ audience: 'public' });
    await world.say('My name is Ada and I prefer tea.');
    await world.type('/memory list', { rights: 'moderator' });
    const countFor = async (author: Author) => field(await world.type('/privacy', { author }), 'Memories about you');
    expect([await countFor(ADA), await countFor(BO)]).toEqual(['2 statements', '0 statements']);
  });
});

/** Another program that reads the file, until it is closed. */
async function otherReader(world: World): Promise<Database.Database> {
  const other = new Database(join(field(await world.type('/privacy'), 'Stored in'), 'strata.db'));
  other.exec('begin');
  other.prepare('select count(*) from entry').get();
  return other;
}

describe('deleted text', () => {
  it('that remains in the store’s files is mentioned', async () => {
    await using world = await openWorld();
    await world.say('I keep bees.');
    const other = await otherReader(world);
    const erased = await world.type('/privacy erase yes');
    other.close();
    expect(erased).toMatchObject({ tone: 'success', text: expect.stringContaining('still in the write-ahead log') });
    await world.say('I keep wasps.');
    expect((await world.type('/privacy erase yes')).text).not.toContain('log');
  });
});

describe('hidden sentences', () => {
  /** Bo says something about Ada, who then has it forgotten. */
  async function hidden(times = 1): Promise<World> {
    const world = await openWorld({ audience: 'public' });
    await world.say('I am allergic to peanuts.');
    for (let time = 0; time < times; time += 1) {
      await world.say(`Bring cake. Ada is allergic to peanuts! See you at ${5 + time}.`, BO);
    }
    await world.type('/memory remember I am allergic to peanuts.');
    const asked = await world.type('/memory forget me');
    const [action] = asked.actions;
    await world.bot.commands.run(invocation(world, action?.command));
    return world;
  }
  const invocation = (world: World, command: Pick<CommandInvocation, 'path' | 'options'> = { path: [], options: {} }) =>
    ({ conversation: world.place, audience: 'public', author: ADA, rights: 'member', ...command }) as const;
  const MODERATOR = { rights: 'moderator', author: BO } as const;

  it('are listed for moderators, and restored by them', async () => {
    await using world = await hidden();
    expect((await world.type('/transcript search cake', { author: BO })).rows).toMatchObject({
      cells: expect.arrayContaining([expect.arrayContaining([expect.stringMatching(/held back/)])]),
    });
    const [row = []] = cells(await world.type('/memory held', MODERATOR));
    expect(row).toEqual([expect.any(String), 'Bo', 'Ada', expect.any(String), 'Ada is allergic to peanuts!']);
    expect((await world.type(`/memory release ${row[0]}`, MODERATOR)).text).toContain('can be read again');
    const found = await world.type('/transcript search cake', { author: BO });
    expect(JSON.stringify(found.rows)).toContain('Ada is allergic to peanuts!');
    expect(cells(await world.type('/memory held', MODERATOR))).toEqual([]);
  });

  it('are deleted by moderators', async () => {
    await using world = await hidden();
    const [row = []] = cells(await world.type('/memory held', MODERATOR));
    const other = await otherReader(world);
    const { text } = await world.type(`/memory strike ${row[0]}`, MODERATOR);
    other.close();
    expect(text).toMatch(/is deleted\. .* still in the write-ahead log/);
    const found = await world.type('/transcript search cake', { author: BO });
    expect(JSON.stringify(found.rows)).toContain('(removed)');
  });

  it('are decided from the page that shows them', async () => {
    await using world = await hidden(9);
    const reply = await world.type('/memory held page=2', MODERATOR);
    const ids = cells(reply).map(([id]) => id);
    expect(ids).toHaveLength(1);
    expect(reply.actions.map(({ command }) => command.options['id'])).toEqual([ids[0], ids[0]]);
  });

  it('are decided only where they were said', async () => {
    await using world = await hidden();
    const [row = []] = cells(await world.type('/memory held', MODERATOR));
    const there = { ...MODERATOR, ...ELSEWHERE };
    expect(cells(await world.type('/memory held', there))).toEqual([]);
    for (const verb of ['release', 'strike'])
      expect((await world.type(`/memory ${verb} ${row[0]}`, there)).text).toContain('There is no hidden sentence');
  });
});

describe('a memory of a direct message', () => {
  it('is found elsewhere neither by beginning nor by completion', async () => {
    await using world = await openWorld();
    await world.type('/memory remember I hide the key below the mat.');
    const [row = []] = cells(await world.type('/memory list'));
    const id = row[0] ?? '';
    const there = { ...ELSEWHERE, author: BO };
    for (const as of [there, { ...there, rights: 'moderator' } as const, { ...there, conversation: world.place }]) {
      for (const line of [`/memory show ${id.slice(0, 12)}`, `/memory show ${id}`, '/memory search mat']) {
        expect(JSON.stringify(await world.type(line, as)), line).not.toContain('below the mat');
      }
      const asked = { ...as, rights: 'member', path: ['memory', 'show'], options: { id: '' } } as const;
      expect(await world.bot.commands.suggest(asked, 'id')).toEqual([]);
    }
  });
});

it('costs lose the name of who has nothing else stored', async () => {
  await using world = await openWorld({ audience: 'public' });
  await world.say('Hello.');
  await world.bot.sink.removed({ conversation: world.place, externalIds: ['m1'] });
  const { journal } = world.bot.services.store;
  const byPerson = { by: 'person', since: null, conversationId: null, limit: 9 } as const;
  const named = async () => JSON.stringify(await journal.spending(byPerson));
  expect(await named()).toContain(ADA.id);
  expect((await world.type('/memory forget me')).text).toContain('nothing to forget');
  expect(await named()).not.toContain(ADA.id);
});

describe('a memory about the asker that is stored elsewhere', () => {
  it('is counted and listed only with those of its kind', async () => {
    await using world = await openWorld();
    await world.type('/memory remember I prefer tea.');
    const list = (options: string) => world.type(`/memory list ${options}`, { ...ELSEWHERE, author: ADA });
    const [[, kind] = []] = cells(await list('about=me'));
    const other = kind === 'fact' ? 'preference' : 'fact';
    expect(cells(await list(`about=me kind=${kind}`))).toHaveLength(1);
    expect(cells(await list(`about=me kind=${other}`))).toEqual([]);
    expect((await list(`kind=${kind}`)).text).toContain('One more memory about you');
    expect((await list(`kind=${other}`)).text).not.toContain('about you');
  });
});

describe('a memory of a place', () => {
  it('says that its message is in another thread', async () => {
    await using world = await openWorld();
    const thread = makeKey({ platform: 'test', workspace: 'w', channel: 'c', thread: 't1' });
    const about = { conversation: thread, externalId: 't1', author: ADA, audience: 'dm', at: Date.now() } as const;
    const rest = { attachments: [], replyTo: null, mentions: [], addressesBot: true };
    await world.bot.sink.message({ ...about, ...rest, text: 'My name is Ada and I prefer tea.' });
    await world.bot.settled();
    const [[id = ''] = []] = cells(await world.type('/memory list', { conversation: thread }));
    const sourceIn = async (conversation: ConversationKey) =>
      cells(await world.type(`/memory why ${id}`, { conversation }))[0]?.[0];
    expect(await sourceIn(thread)).toBe('#1');
    expect(await sourceIn(world.place)).toContain(thread);
  });

  it('is not changed by other members', async () => {
    await using world = await openWorld({ audience: 'public' });
    await world.type('/memory remember The gate is green.', { rights: 'moderator' });
    const [row = []] = cells(await world.type('/memory list'));
    const verbs = ['edit ID red', 'pin ID', 'unpin ID', 'reject ID', 'demote ID', 'approve ID', 'restore ID'];
    for (const verb of verbs) {
      const reply = await world.type(`/memory ${verb.replace('ID', row[0] ?? '')}`, { author: BO });
      expect(reply.text, verb).toContain('is for');
    }
  });
});
