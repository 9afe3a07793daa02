import { describe, expect, test } from 'vitest';
import { createOfflineModel } from '../../../adapters/models/offline/index.ts';
import { builtInSpecs } from '../../../src/commands/built-in/built-in-commands.ts';
import { formatCommand, readCommandLine } from '../../../src/commands/lines/parse.ts';
import { renderReply } from '../../../src/commands/lines/render.ts';
import { generalDefaults } from '../../../src/config/defaults.ts';
import { ModelError } from '../../../src/domain/errors.ts';
import { workspaceOf } from '../../../src/domain/key.ts';
import type { MemoryId } from '../../../src/domain/message.ts';
import { publicLinkTo } from '../../../src/inspection/address.ts';
import { createOptOut } from '../../../src/memory/people/opt-out.ts';
import type { Channel } from '../../../src/ports/channel.ts';
import type { ChatModel } from '../../../src/ports/model.ts';
import { memoryOf } from '../memory/memory.world.ts';
import { ADA, BO, cells, field, openWorld, type World } from './commands.world.ts';

/** Enough small talk that the built-in model's window must be compacted more than once. */
async function talk(world: World, messages: number): Promise<void> {
  for (let index = 1; index <= messages; index += 1) {
    await world.say(`Day ${index} of the trip: we walked ${index + 3} km and slept in hut number ${index * 7}.`);
  }
}

/** Memories of the place, about Ada, by id and text; each in the place of another one, if that is given. */
async function keep(
  { bot, place }: World,
  memories: readonly (readonly [id: string, text: string])[],
  replaced: MemoryId | null = null,
): Promise<void> {
  const writes = memories.map(([id, text]) => {
    const memory = memoryOf(text, { id: id as MemoryId, place, workspace: workspaceOf(place) });
    if (replaced === null) return { kind: 'insert', memory, sources: [] } as const;
    return { kind: 'supersede', id: replaced, memory, sources: [] } as const;
  });
  await bot.services.store.memories.save({ conversationId: null, writes, actor: 'test', now: Date.now() });
}

describe('/help', () => {
  test('lists every command and explains one', async () => {
    await using world = await openWorld();
    const all = await world.type('/help');
    const names = all.fields.map((one) => one.name.split(' ')[0]);
    expect(names).toEqual([
      '/help',
      '/status',
      '/context',
      '/why',
      '/compact',
      '/summaries',
      '/memory',
      '/transcript',
      '/reset',
      '/privacy',
    ]);
    expect(field(await world.type('/help memory'), '/memory forget <id> [confirm]')).toContain('Delete a memory');
    expect((await world.type('/help memroy')).text).toContain('Did you mean /memory?');
  });
});

describe('before anything was said', () => {
  test('every reading command reports it without failing', async () => {
    await using world = await openWorld();
    for (const line of [
      '/status',
      '/context',
      '/context detail tail',
      '/summaries',
      '/transcript search tea',
      '/reset',
      '/compact',
    ]) {
      const reply = await world.type(line);
      expect(reply.text, line).toContain('There are no messages here yet');
      expect(reply.tone, line).toBe('info');
    }
    expect((await world.type('/memory')).text).toContain('There are no memories here yet');
    expect(field(await world.type('/privacy'), 'Stored here')).toContain('0 messages');
  });
});

describe('/status', () => {
  test('shows model, window, use, tier, stack, memories, job and cost', async () => {
    await using world = await openWorld();
    await world.say('Hello, my name is Ada.');
    const status = await world.type('/status');
    expect(field(status, 'Model')).toBe('offline:demo');
    expect(field(status, 'Window')).toMatch(/^[\d,]+ tokens$/);
    expect(field(status, 'Used')).toMatch(/^\[[█░]{10}\] ~?[\d,]+ of [\d,]+ tokens \(\d+ %\), tier \w+$/);
    expect(field(status, 'Compacts')).toMatch(
      /^background at [\d,]+ \(80 %\), aggressive at [\d,]+ \(85 %\), emergency at/,
    );
    expect(field(status, 'Stack')).toContain('0 summaries');
    expect(field(status, 'Messages')).toBe('2 stored, the last 2 seen in full');
    expect(field(status, 'Last compaction')).toBe('none yet');
    expect(field(status, 'Job')).toMatch(/^(next check in|nothing to do)/);
    expect(field(status, 'Cost')).toMatch(
      /^reply: 1 call of offline:demo, \d+ in \+ \d+ out, \$0\.00\n0 of at most 60 calls for summaries in this hour$/,
    );
    expect(field(status, 'Queue')).toBe('local: 0 running, 0 waiting, 0 later');
    expect(status.ephemeral).toBe(true);
  });

  test('shows the last compaction with before, after, duration and cost', async () => {
    await using world = await openWorld();
    await talk(world, 30);
    const status = await world.type('/status');
    expect(field(status, 'Last compaction')).toMatch(
      /#\d+–#\d+ \(\w+\): ~[\d,]+ → ~[\d,]+ tokens in [\d.]+ m?s, cost [\d,]+ in \+ [\d,]+ out/,
    );
    const [, before = '', after = ''] = /~([\d,]+) → ~([\d,]+)/.exec(field(status, 'Last compaction')) ?? [];
    expect(Number(before.replace(',', ''))).toBeGreaterThan(Number(after.replace(',', '')));
    expect(field(status, 'Stack')).toMatch(/\d+ summar(y|ies) \(\d+ of level \d/);
  });

  // Shows: Q22, R6
  test('shows a failed job’s next attempt and a paused model', async () => {
    const offline = createOfflineModel();
    const model: ChatModel = {
      ...offline,
      stream(request, options) {
        if (request.purpose === 'reply') return offline.stream(request, options);
        throw new ModelError({ model: offline.id, reason: 'auth', detail: 'the key was refused' });
      },
    };
    const models = { open: async () => model, choose: async () => ({ modelId: model.id, reason: '' }) };
    await using world = await openWorld({ parts: { models } });
    await talk(world, 30);
    const status = await world.type('/status');
    expect(field(status, 'Job')).toMatch(/^failed \d+ times?, next attempt (now|in .+): .*the key was refused/);
    expect(field(status, 'Paused')).toMatch(/offline:demo is paused until .* \(in \d/);
    expect(field(status, 'Last compaction')).toBe('none yet');
  });

  test('shows a broken configuration and a model that cannot open', async () => {
    const configTrouble = () => 'config.toml has 2 errors; the last valid one stays in use';
    await using world = await openWorld({ parts: { configTrouble } });
    await world.say('Hello.');
    expect(field(await world.type('/status'), 'Configuration')).toContain('config.toml has 2 errors');
  });
});

describe('the link to the inspector', () => {
  const inspectorLink = (conversation: string) => `https://strata.example.org/c/${conversation}`;

  test('is in status and context, for those who may moderate', async () => {
    await using world = await openWorld({ parts: { inspectorLink } });
    await world.say('Hello.');
    for (const line of ['/status', '/context']) {
      expect(field(await world.type(line), 'Inspector')).toBe('');
      for (const rights of ['moderator', 'operator'] as const) {
        expect(field(await world.type(line, { rights }), 'Inspector')).toBe(inspectorLink(world.place));
      }
    }
  });

  test('exists only where people can sign in', () => {
    const key = 'slack:T1:C1:~1.2';
    const url = 'https://strata.example.org/';
    const shared = { ...generalDefaults.inspector, url };
    const link = 'https://strata.example.org/c/slack%3AT1%3AC1%3A~1.2';
    const proxied = { identity_header: 'x-forwarded-user', proxies: ['10.0.0.2'] };
    expect(publicLinkTo(key, { ...shared, password: 'secret' })).toBe(link);
    expect(publicLinkTo(key, { ...shared, ...proxied })).toBe(link);
    for (const closed of [{}, { password: 'x', url: '' }, { password: 'x', listen: '' }, { ...proxied, proxies: [] }]) {
      expect(publicLinkTo(key, { ...shared, ...closed })).toBeNull();
    }
  });
});

describe('/context', () => {
  // Shows: P30
  test('shows every part with source, reason, tokens and text', async () => {
    await using world = await openWorld();
    await world.say('Hello, my name is Ada and I live in Riga.');
    const list = await world.type('/context');
    expect(list.rows?.columns).toEqual(['PART', 'TOKENS', 'SOURCE', 'REASON']);
    const keys = cells(list).map((row) => row[0]);
    expect(keys).toEqual(expect.arrayContaining(['tools', 'persona', 'tail', 'reserve']));
    for (const row of cells(list)) {
      expect(row[1], row[0]).toMatch(/^~?[\d,]+/);
      expect(row[2], row[0]).not.toBe('');
      expect(row[3], row[0]).not.toBe('');
    }
    const tail = await world.type('/context detail tail');
    expect(tail.text).toContain('I live in Riga.');
    expect((await world.type('/context detail tial')).text).toContain('Did you mean tail?');
  });

  test('names the people and words of the newest message', async () => {
    await using world = await openWorld();
    const mentions = [{ id: 'u-7', name: 'Gr[a]ce', kind: 'bot' }] as const;
    const sent = { author: ADA, audience: 'dm', externalId: 'm', at: Date.now(), attachments: [] } as const;
    const text = 'My cat is called Tom';
    const about = { conversation: world.place, replyTo: null, mentions, addressesBot: true, text };
    await world.bot.sink.message({ ...sent, ...about });
    await world.bot.settled();
    expect(field(await world.type('/context'), 'Focus')).toBe('people: Ada, Grace <bot>; words: tom');
  });

  test('counts extraction as a job', async () => {
    await using world = await openWorld();
    await world.say('My name is Ada and I prefer tea.');
    await world.type('/memory list');
    expect(field(await world.type('/context'), 'Jobs')).toMatch(/^1 done, 0 failed; .* saved 2 memories$/);
    expect(field(await world.type('/status'), 'Last compaction')).toBe('none yet');
  });

  // Shows: T37
  test('changes with the thresholds', async () => {
    const compaction = { background_threshold: 0.5, aggressive_threshold: 0.6, emergency_threshold: 0.7 };
    const agents = [{ id: 'main', compaction: { ...compaction, ...REST } }];
    await using world = await openWorld({ parts: { agents } });
    await world.say('Hello.');
    expect(field(await world.type('/context'), 'Compacts')).toMatch(/\(50 %\).*\(60 %\).*\(70 %\)/);
  });
});

const REST = { stack_share: 0.15, model: 'auto', timeout_seconds: 60, idle_minutes: 10 };

describe('/summaries and /transcript', () => {
  // Shows: Q24, R24
  test('go down to the raw messages', async () => {
    await using world = await openWorld();
    await talk(world, 30);
    const list = await world.type('/summaries');
    const ids = cells(list).map((row) => row[0] ?? '');
    expect(ids.length).toBeGreaterThanOrEqual(1);
    const shown = await world.type(`/summaries show ${ids[0]}`);
    expect(shown.text.length).toBeGreaterThan(20);
    expect(field(shown, 'Covers')).toMatch(/^#1–#\d+$/);
    let reply = await world.type(`/summaries open ${ids[0]}`);
    for (let depth = 0; reply.title.includes('was made from') && depth < 10; depth += 1) {
      reply = await world.type(`/summaries open ${cells(reply)[0]?.[0]}`);
    }
    expect(reply.title).toMatch(/^Messages #1–/);
    expect(cells(reply)[0]).toEqual(['#1', expect.any(String), 'Ada', expect.stringContaining('Day 1 of the trip')]);
  });

  test('pages lead to each other and end', async () => {
    await using world = await openWorld();
    await talk(world, 30);
    const first = await world.type('/transcript search hut');
    expect(cells(first)).toHaveLength(8);
    expect(first.page).toMatchObject({ number: 1, previous: null });
    const seen = new Set(cells(first).map((row) => row[0]));
    let page = first.page;
    for (let number = 2; page?.next != null; number += 1) {
      const line = formatCommand(page.next, builtInSpecs);
      const reply = await world.type(line);
      expect(reply.page?.number).toBe(number);
      expect(reply.page?.previous).not.toBeNull();
      for (const row of cells(reply)) {
        expect(seen.has(row[0]), `${row[0]} twice`).toBe(false);
        seen.add(row[0]);
      }
      page = reply.page;
    }
    expect(page?.number).toBe(page?.of);
    expect((await world.type('/transcript search page=99 hut')).text).toMatch(
      /There is no page 99: there are \d+ pages\./,
    );
  });

  test('find messages summarised long ago', async () => {
    await using world = await openWorld();
    await world.say('The code of the bicycle lock is 4711.');
    await talk(world, 25);
    expect(cells(await world.type('/transcript search bicycle lock'))[0]?.[3]).toContain('4711');
    expect((await world.type('/transcript search xylophone')).text).toContain('No message here matches');
  });

  test('never show a summary of another conversation', async () => {
    await using world = await openWorld();
    await talk(world, 30);
    const id = cells(await world.type('/summaries'))[0]?.[0];
    const elsewhere = { conversation: readKey('test:w:other') };
    await world.bot.sink.message({
      ...elsewhere,
      externalId: 'x1',
      author: BO,
      text: 'hi',
      attachments: [],
      replyTo: null,
      mentions: [],
      addressesBot: true,
      audience: 'dm',
      at: 1,
    });
    await world.bot.settled();
    const reply = await world.type(`/summaries show ${id}`, elsewhere);
    expect(reply).toMatchObject({ tone: 'error', text: expect.stringContaining('There is no summary') });
  });
});

const readKey = (text: string) => text as World['place'];

describe('/compact', () => {
  // Shows: Q21
  test('summarises now, and says what came of it', async () => {
    await using world = await openWorld();
    await world.say('Hello.');
    expect((await world.type('/compact')).text).toBe('Nothing was compacted: there is too little to summarise yet.');
    await talk(world, 9);
    const reply = await world.type('/compact keep the times');
    expect(reply).toMatchObject({ tone: 'success', ephemeral: false });
    expect(reply.text).toMatch(/^~[\d,]+ → ~[\d,]+ tokens$/);
    expect(field(reply, 'Cost')).toMatch(/^[\d,]+ tokens$/);
    expect(cells(await world.type('/summaries')).length).toBeGreaterThanOrEqual(1);
    // Whatever was compacted before is not reported again.
    let again = await world.type('/compact');
    for (let run = 0; run < 9 && again.tone === 'success'; run += 1) again = await world.type('/compact');
    expect(again.text).toMatch(/^Nothing was compacted: /);
  });

  // Shows: R23
  test('is for those who manage the place', async () => {
    await using world = await openWorld({ audience: 'public' });
    await world.say('Hello.');
    for (const line of ['/compact', '/reset', '/summaries rewrite s1', '/privacy erase yes']) {
      const reply = await world.type(line);
      expect(reply, line).toMatchObject({
        tone: 'error',
        text: expect.stringContaining('is for the people who manage this place'),
      });
    }
    expect(await world.type('/reset', { rights: 'moderator' })).toMatchObject({ tone: 'success' });
  });
});

describe('/memory', () => {
  async function told(): Promise<World> {
    const world = await openWorld();
    await world.say('My name is Ada and I prefer tea. I live in Riga.');
    return world;
  }
  const idOf = async (world: World, words: string): Promise<string> => {
    const row = cells(await world.type('/memory list')).find((one) => one[2]?.includes(words));
    return row?.[0] ?? '';
  };

  test('lists a new memory with its source', async () => {
    await using world = await told();
    const list = await world.type('/memory list');
    expect(list.ephemeral).toBe(true);
    expect(
      cells(list)
        .map((row) => row[2])
        .join(' '),
    ).toMatch(/tea/);
    const why = await world.type(`/memory why ${await idOf(world, 'tea')}`);
    expect(cells(why)[0]).toEqual([
      '#1',
      expect.any(String),
      'Ada',
      'My name is Ada and I prefer tea. I live in Riga.',
    ]);
    expect(why.fields.map((one) => one.value).join(' ')).toContain('added by');
    const show = await world.type(`/memory show ${await idOf(world, 'tea')}`);
    expect(field(show, 'About')).toBe('Ada');
    expect(field(show, 'Trust')).toBe('self');
  });

  test('links to its messages where the platform has addresses', async () => {
    const channel: Channel = {
      platform: 'test',
      traits: { idempotentPosts: true, ephemeral: false, commandPrefix: '/', personIds: 'workspace' },
      start: async () => undefined,
      split: () => [],
      post: async () => ({ platformMessageId: 'p1' }),
      show: () => undefined,
      linkTo: async ({ conversation, externalId }) => `https://test.example/${conversation}/${externalId}`,
      stop: async () => undefined,
    };
    await using world = await openWorld({ parts: { channels: [channel] } });
    await world.say('My name is Ada and I prefer tea. I live in Riga.');
    const why = await world.type(`/memory why ${await idOf(world, 'tea')}`);
    expect(why.rows?.columns.at(-1)).toBe('LINK');
    expect(cells(why)[0]?.at(-1)).toBe('https://test.example/test:w:c/m1');
  });

  test('searches, filters and takes the head of an id', async () => {
    await using world = await told();
    expect(
      cells(await world.type('/memory search Riga'))
        .map((row) => row[2])
        .join(),
    ).toContain('Riga');
    expect((await world.type('/memory search Riga')).text).toBe('1 memory matches "Riga".');
    expect((await world.type('/memory search xylophone')).text).toContain('No memory matches');
    expect((await world.type('/memory list event')).text).toContain('no memories of kind event');
    expect(cells(await world.type('/memory list about=me')).length).toBeGreaterThan(0);
    expect(cells(await world.type('/memory list about=me', { author: BO }))).toEqual([]);
    const id = await idOf(world, 'tea');
    expect((await world.type(`/memory show ${id.slice(0, 25)}`)).title).toBe(`Memory ${id}`);
    expect((await world.type('/memory show 0nothing')).tone).toBe('error');
  });

  test('is corrected, pinned and rejected by the person', async () => {
    await using world = await told();
    const id = await idOf(world, 'tea');
    expect(await world.type(`/memory edit ${id} Ada prefers green tea.`)).toMatchObject({
      tone: 'success',
      text: 'Ada prefers green tea.',
    });
    expect(field(await world.type(`/memory pin ${id}`), 'State')).toContain('pinned');
    expect(cells(await world.type('/memory list'))[0]?.[0]).toBe(id);
    expect(field(await world.type(`/memory unpin ${id}`), 'State')).not.toContain('pinned');
    expect(field(await world.type(`/memory reject ${id}`), 'State')).toBe('rejected');
    expect((await world.type(`/memory approve ${id}`)).tone).toBe('error');
  });

  test('is forgotten from every layer', async () => {
    await using world = await told();
    const id = await idOf(world, 'Riga');
    const asked = await world.type(`/memory forget ${id}`);
    expect(asked).toMatchObject({
      title: 'Forget this?',
      text: expect.stringContaining('Nothing has been deleted yet'),
    });
    expect(field(asked, 'Memories')).toBe('1');
    expect(field(asked, 'Messages')).toMatch(/Ada 1/);
    expect(cells(asked).map((row) => row[0])).toContain('message');
    expect((await world.type(`/memory show ${id}`)).tone).toBe('info');
    expect((await world.type(`/memory forget confirm=00000000 ${id}`)).text).toContain('has changed');
    const lines = asked.actions.map((action) => formatCommand(action.command, builtInSpecs));
    expect(lines).toEqual([expect.stringContaining(`/memory forget confirm=`)]);
    expect(await world.type(lines[0] ?? '')).toMatchObject({ tone: 'success', title: 'Forgotten' });
    expect((await world.type(`/memory show ${id}`)).text).toContain('There is no memory');
    expect((await world.type('/transcript search Riga')).text).toContain('No message here matches');
    expect(JSON.stringify(await world.type('/context detail tail'))).not.toContain('Riga');
    expect(JSON.stringify(await world.type('/memory export'))).not.toContain('Riga');
  });

  test('is not forgotten by a beginning that fits several ids', async () => {
    await using world = await openWorld();
    const ids = ['01m80aaaaaaaaaaaaaaaaaaaaa', '01m80bbbbbbbbbbbbbbbbbbbbb'];
    await keep(world, [
      [ids[0] ?? '', 'Ada keeps bees'],
      [ids[1] ?? '', 'Ada owns a canoe'],
    ]);
    const refused = await world.type('/memory forget 01m80 confirm=yes');
    expect(refused.tone).toBe('error');
    expect(refused.text).toMatch(/^2 memories have ids that begin with 01m80: /);
    expect(refused.text).toContain(`${ids[0]} (Ada keeps bees)`);
    expect(refused.text).toContain(`${ids[1]} (Ada owns a canoe)`);
    expect(refused.actions).toEqual([]);
    expect(cells(await world.type('/memory list'))).toHaveLength(2);
    expect((await world.type('/memory forget 01m80a confirm=yes')).title).toBe('Forgotten');
    expect(cells(await world.type('/memory list'))).toHaveLength(1);
  });

  test('is not forgotten by words that may be an id', async () => {
    await using world = await openWorld();
    await world.say('We met 01m80 times at 5.');
    for (const id of ['5', '01m80']) {
      const refused = await world.type(`/memory forget ${id} confirm=yes`);
      expect([refused.tone, refused.text]).toEqual(['error', expect.stringContaining(id)]);
    }
    expect((await world.type('/transcript search met times')).text).toContain('1 message matches');
  });

  test('leaves no words in the button of a question', async () => {
    await using world = await openWorld();
    const idOfStep = (step: number) => `01m8${String(step).padStart(22, '0')}`;
    await keep(world, [[idOfStep(0), 'Ada paints harbour 0']]);
    for (let step = 1; step < 30; step += 1) {
      const replaced = idOfStep(step - 1) as MemoryId;
      await keep(world, [[idOfStep(step), `Ada paints harbour ${step}`]], replaced);
    }
    const asked = await world.type('/memory forget paints the harbour');
    expect(Number(field(asked, 'Memories'))).toBeGreaterThan(20);
    const [button] = asked.actions;
    expect(button?.command.options['id']).toMatch(/^01m8\d{22}(?: 01m8\d{22}){0,19}$/);
    expect(await world.type(formatCommand(button?.command ?? { path: [], options: {} }, builtInSpecs))).toMatchObject({
      title: 'Forgotten',
    });
    expect(cells(await world.type('/memory list'))).toEqual([]);
  });

  test.each([
    ['José', 'Jose\u0301'],
    ['José', 'jose'],
    ['İsmail', 'ismail'],
    ['ΝΊΚΟΣ', 'νίκος'],
    ['Łukasz', 'lukasz'],
  ])('of %s is listed by the name as typed: %s', async (subjectName, typed) => {
    await using world = await openWorld();
    const { bot, place } = world;
    const memory = memoryOf('collects stamps', { place, workspace: workspaceOf(place), subjectId: 'u-1', subjectName });
    const writes = [{ kind: 'insert', memory, sources: [] }] as const;
    await bot.services.store.memories.save({ conversationId: null, writes, actor: 'test', now: Date.now() });
    expect(cells(await world.type(`/memory list about=${typed}`))).toHaveLength(1);
    expect(cells(await world.type('/memory list about=Bo'))).toEqual([]);
  });

  test('of somebody mentioned is listed and copied by id', async () => {
    await using world = await openWorld({ audience: 'public' });
    const { bot, place } = world;
    const of = (subjectId: string, count: number) =>
      Array.from({ length: count }, (_, index) => {
        const about = {
          subjectId,
          subjectName: 'Bo',
          place,
          workspace: workspaceOf(place),
          audience: 'public',
        } as const;
        return { kind: 'insert', memory: memoryOf(`collects ${subjectId} ${index}`, about), sources: [] } as const;
      });
    const writes = [...of('u-bo', 9), ...of('u-other', 1)];
    await bot.services.store.memories.save({ conversationId: null, writes, actor: 'test', now: Date.now() });
    const mentions = [{ id: 'u-bo', name: 'Bobby', kind: 'person' }] as const;
    const as = { rights: 'moderator', mentions } as const;
    const listed = await world.type('/memory list about=@Bobby', as);
    expect(listed.text).toContain('9 memories here');
    const turned = await world.type('/memory list', { ...as, mentions: [], ...listed.page?.next });
    expect(cells(turned)).toHaveLength(1);
    expect((await world.type('/memory list about=@Bobbie', as)).text).toContain('no memories about @Bobbie');
    const copied = await world.type('/memory export person=@Bobby', as);
    expect(copied.text).toMatch(/^9 memories about Bobby and 0 messages by Bobby, from this place\./);
    expect((await world.type('/memory export')).text).toMatch(
      /about you and 0 messages by you, from this place and from public ones/,
    );
  });

  test('may be about somebody mentioned who never spoke here', async () => {
    await using world = await openWorld({ audience: 'public' });
    const { bot, place } = world;
    const as = { mentions: [{ id: 'u-bo', name: 'Bo', kind: 'person' }] } as const;
    const written = await world.type('/memory remember @Bo collects stamps.', as);
    const saved = await bot.services.store.memories.find(field(written, 'Id') as MemoryId);
    expect(saved).toMatchObject({ subjectId: 'u-bo', trust: 'other' });
    const paused = { conversation: place, authorId: 'u-bo', name: 'Robert' };
    await createOptOut(bot.services.state).pause(paused, Date.now());
    const refused = await world.type('/memory remember It was @Bo who broke the vase.', as);
    expect(refused).toMatchObject({ tone: 'error', text: expect.stringContaining('paused') });
  });

  test('is forgotten by words, and all at once about oneself', async () => {
    await using world = await told();
    expect((await world.type('/memory forget prefers tea confirm=yes')).title).toBe('Forgotten');
    expect(
      cells(await world.type('/memory list'))
        .map((row) => row[2])
        .join(),
    ).not.toContain('tea');
    await world.say('I play the cello.');
    await world.type('/memory list');
    await world.type('/memory forget confirm=yes me');
    expect(cells(await world.type('/memory list about=me'))).toEqual([]);
  });

  test('may be as long as a message, and is counted', async () => {
    await using world = await openWorld();
    const long = `The recipe: ${'flour, eggs and a pinch of salt; '.repeat(50)}then bake it.`;
    expect((await world.type(`/memory remember ${long}`)).title).toBe('Remembered');
    expect((await world.type('/memory export')).text).toMatch(/^1 memory about you and 0 messages by you, /);
    expect((await world.type('/memory search flour')).rows?.cells).toHaveLength(1);
    const tooLong = await world.type(`/memory remember ${'never '.repeat(400)}`);
    expect(tooLong.text).toContain('at most 2000 characters, and this text has 2399');
  });

  test('is remembered on request, and not twice', async () => {
    await using world = await told();
    const first = await world.type('/memory remember The key lies under the mat.');
    expect(first).toMatchObject({ title: 'Remembered', tone: 'success' });
    expect((await world.type('/memory remember the key lies under the mat')).title).toBe('Already known');
  });

  test('of others is changed by moderators, not by members', async () => {
    await using world = await openWorld({ audience: 'public' });
    await world.say('My name is Ada and I prefer tea.');
    await world.type('/memory list', { rights: 'moderator' });
    const id = await idOf(world, 'tea');
    const asBo = { author: BO };
    for (const line of [`/memory edit ${id} x`, `/memory pin ${id}`, `/memory forget ${id}`, `/memory reject ${id}`]) {
      expect(await world.type(line, asBo), line).toMatchObject({
        tone: 'error',
        text: expect.stringContaining('is for'),
      });
    }
    expect((await world.type(`/memory why ${id}`, asBo)).tone).toBe('info');
    expect((await world.type(`/memory export person=${ADA.id}`, asBo)).tone).toBe('error');
    expect((await world.type(`/memory pin ${id}`, { ...asBo, rights: 'moderator' })).tone).toBe('success');
    expect((await world.type(`/memory edit ${id} Ada prefers coffee.`)).tone).toBe('success');
  });

  test('of a direct message is refused elsewhere, by id too', async () => {
    await using world = await told();
    const id = await idOf(world, 'tea');
    const elsewhere = { conversation: readKey('test:w:public'), audience: 'public' } as const;
    expect(cells(await world.type('/memory list', elsewhere))).toEqual([]);
    expect((await world.type('/memory search tea', elsewhere)).text).toContain('No memory matches');
    const others = { ...elsewhere, author: BO };
    for (const [line, as] of [
      [`/memory show ${id}`, elsewhere],
      [`/memory why ${id}`, elsewhere],
      [`/memory forget ${id}`, others],
    ] as const) {
      const reply = await world.type(line, as);
      expect(reply.tone, line).toBe('error');
      expect(JSON.stringify(reply), line).not.toContain('tea');
    }
    expect((await world.type('/memory export', elsewhere)).file?.text).not.toContain('prefers tea');
  });

  test('is exported as JSON with its sources', async () => {
    await using world = await told();
    await world.type('/memory list');
    const { file } = await world.type('/memory export');
    const copy = JSON.parse(file?.text ?? '');
    expect(copy.person).toBe(ADA.id);
    expect(copy.memories.map((one: { text: string }) => one.text).join()).toContain('tea');
    expect(copy.messages).toHaveLength(1);
  });

  test('completes ids', async () => {
    await using world = await told();
    const id = await idOf(world, 'tea');
    const invocation = { conversation: world.place, audience: 'dm', author: ADA, rights: 'member' } as const;
    const asked = { ...invocation, path: ['memory', 'why'], options: { id: 'tea' } };
    expect(await world.bot.commands.suggest(asked, 'id')).toEqual([
      { label: expect.stringContaining('tea'), value: id },
    ]);
  });
});

describe('/privacy', () => {
  test('describes stored data, learns nothing about paused people', async () => {
    await using world = await openWorld();
    expect((await world.type('/privacy pause')).tone).toBe('success');
    await world.say('My name is Ada and I prefer tea.');
    expect(cells(await world.type('/memory list'))).toEqual([]);
    const shown = await world.type('/privacy');
    expect(field(shown, 'Learning about you')).toBe('paused');
    expect(field(shown, 'Stored here')).toBe('2 messages, in full unless deleted, with their summaries');
    expect(field(shown, 'Stored in')).toContain('strata-commands-');
    await world.say('I prefer coffee.');
    await world.type('/privacy resume');
    await world.say('I live in Riga.');
    const learned = cells(await world.type('/memory list'))
      .map((row) => row[2])
      .join();
    expect(learned).toContain('Riga');
    expect(learned).not.toContain('coffee');
  });

  test('counts messages that are not read for memories yet', async () => {
    await using world = await openWorld();
    await world.say('My name is Ada and I prefer tea.');
    const unread = '; 2 messages are not read for memories yet';
    expect(field(await world.type('/privacy'), 'Memories about you')).toBe(`0 statements${unread}`);
    expect(field(await world.type('/status'), 'Memories')).toBe(`0${unread}`);
    await world.type('/memory list');
    expect(field(await world.type('/privacy'), 'Memories about you')).toBe('2 statements');
    expect(field(await world.type('/status'), 'Memories')).toBe('2');
  });

  test('names every model that receives messages', async () => {
    const reranker = { rerank: async () => [], embed: async () => [] };
    const agents = [
      {
        id: 'main',
        model: ['a:chat', 'b:spare'],
        compaction: { model: 'c:summaries' },
        recall: { rerank_model: 'd:order' },
      },
    ];
    await using world = await openWorld({ parts: { agents, reranker } });
    expect(field(await world.type('/privacy'), 'Sent to')).toBe(
      'the model a:chat, otherwise b:spare; for summaries and memories c:summaries; to order earlier messages d:order',
    );
  });

  test('names a model once that writes summaries, too', async () => {
    for (const [model, sent] of [
      ['auto', 'the model chosen at startup'],
      ['a:chat', 'the model chosen at startup; for summaries and memories a:chat'],
    ] as const) {
      await using world = await openWorld({ parts: { agents: [{ id: 'main', compaction: { model } }] } });
      expect(field(await world.type('/privacy'), 'Sent to')).toBe(sent);
    }
    const agents = [{ id: 'main', model: 'a:chat', compaction: { model: 'a:chat' } }];
    await using world = await openWorld({ parts: { agents } });
    expect(field(await world.type('/privacy'), 'Sent to')).toBe('the model a:chat');
  });

  test('erases everything on request', async () => {
    await using world = await openWorld();
    await world.say('My name is Ada and I prefer tea.');
    await world.type('/memory list');
    expect((await world.type('/privacy erase')).tone).toBe('error');
    expect((await world.type('/privacy erase yes')).tone).toBe('success');
    expect((await world.type('/transcript search tea')).text).toContain('There are no messages here yet');
    expect(cells(await world.type('/memory list'))).toEqual([]);
  });
});

describe('/reset', () => {
  // Shows: S21, T39
  test('empties the view, and keeps archive and memories', async () => {
    await using world = await openWorld();
    await world.say('My name is Ada and I prefer tea.');
    await world.type('/memory list');
    expect(await world.type('/reset')).toMatchObject({ tone: 'success', ephemeral: false });
    expect((await world.type('/context detail tail')).text).not.toContain('tea');
    expect(field(await world.type('/status'), 'Messages')).toBe('2 stored, the last 0 seen in full');
    expect(cells(await world.type('/transcript search tea'))[0]?.[3]).toContain('tea');
    expect(
      cells(await world.type('/memory list'))
        .map((row) => row[2])
        .join(),
    ).toContain('tea');
  });
});

describe('every reply', () => {
  // Shows: A33
  test('contains no control characters, whatever was said', async () => {
    await using world = await openWorld();
    await world.say('My name is \u001b[31mAda\u001b[0m\u0007 and I prefer \u009b2Jtea\u202e.');
    for (const line of [
      '/memory list',
      '/transcript search Ada',
      '/context detail tail',
      '/memory export',
      '/status',
    ]) {
      const text = renderReply(await world.type(line), { color: false, specs: builtInSpecs });
      expect(text, line).not.toMatch(/[\p{Cc}--\n]|\u202e/v);
    }
  });

  // Shows: T38
  test('fits 25 fields, 8 rows and texts below 2000 characters', async () => {
    await using world = await openWorld();
    await world.say(`A long one: ${'word '.repeat(1500)}`);
    await talk(world, 12);
    for (const line of [
      '/help',
      '/status',
      '/context',
      '/context detail tail',
      '/memory',
      '/summaries',
      '/transcript search word',
    ]) {
      const reply = await world.type(line);
      expect(reply.fields.length, line).toBeLessThanOrEqual(25);
      expect(cells(reply).length, line).toBeLessThanOrEqual(8);
      expect(reply.text.length, line).toBeLessThanOrEqual(2000);
    }
  });

  test('has actions and pages that can be typed', async () => {
    await using world = await openWorld();
    await world.say('My name is Ada and I prefer tea.');
    for (const line of ['/status', '/memory', '/privacy', '/context']) {
      for (const action of (await world.type(line)).actions) {
        expect(
          readCommandLine(formatCommand(action.command, builtInSpecs), { specs: builtInSpecs }),
          action.label,
        ).toEqual({
          kind: 'command',
          command: action.command,
        });
        expect((await world.type(formatCommand(action.command, builtInSpecs))).tone, action.label).not.toBe('error');
      }
    }
  });

  test('reveals no internals after an error', async () => {
    await using world = await openWorld();
    await world.say('Hello.');
    const failing = {
      ...world.bot.services.store.summaries,
      live: () => Promise.reject(new Error('SQLITE_IOERR at 0x7f')),
    };
    Object.assign(world.bot.services.store.summaries, failing);
    const reply = await world.type('/summaries');
    expect(reply).toMatchObject({ tone: 'error', ephemeral: true });
    expect(reply.text).not.toContain('SQLITE');
  });
});
