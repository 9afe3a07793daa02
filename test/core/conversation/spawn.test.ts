import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  type ContextEngine,
  defineEngine,
  defineTool,
  type MemoryReader,
  type ModelRequest,
  makeChildKey,
  makeKey,
  StrataError,
  type Tool,
  type ToolContext,
  textOf,
} from '../../../src/adapter-kit.ts';
import { createSlidingEngine } from '../../../src/context/engines/sliding.ts';
import { createChildren } from '../../../src/conversation/children/children.ts';
import { endsWithin } from '../../../src/util/async/within.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/util/time/time.ts';
import { createPlace, type Place } from '../../fixtures/place.ts';
import { ADA, type BotWorld, type BotWorldOptions, createBotWorld, HERE } from '../../support/bot-world.ts';
import {
  createWorld,
  faithful,
  filler,
  type Said,
  type Script,
  scriptedModel,
  settle,
  until,
} from '../compaction/compaction.world.ts';

type Spawn = ToolContext['spawn'];

/** A tool that hands its input to a child. */
const research = (run: (text: string, context: ToolContext) => ReturnType<Tool['run']>): Tool =>
  defineTool({
    name: 'research',
    description: 'Finds something out',
    input: z.object({ text: z.string() }),
    run: ({ text }, context) => run(text, context),
  }) as Tool;

const asks = (text: string): Said => ({ calls: [{ tool: 'research', input: { text } }] });
const said = (request: ModelRequest) => JSON.stringify(request.messages);
/** The turn has results already. */
const hasResult = (request: ModelRequest) => request.messages.at(-1)?.role === 'tool';
const resultOf = (request: ModelRequest): string => {
  const last = request.messages.at(-1);
  return last?.role === 'tool' ? (last.results[0]?.text ?? '') : '';
};

/** The parent calls the tool once and repeats its result; the child answers by the script. */
function delegating(child: Script, options: { readonly task?: string } = {}) {
  const script: Script = (request, given) => {
    if (request.purpose === 'child') return child(request, given);
    if (request.purpose !== 'reply') return faithful(request, given);
    return hasResult(request) ? { text: `Found: ${resultOf(request)}` } : asks(options.task ?? 'count the boats');
  };
  return scriptedModel(script, { id: 'test:chat', window: 3000 });
}

let place: Place;
let ends: string[];
let noting: ContextEngine;
beforeEach(async () => {
  place = await createPlace();
  ends = [];
  noting = notingEngine(place, ends);
});
afterEach(() => {
  vi.useRealTimers();
  return place[Symbol.asyncDispose]();
});

/** An engine that records what is called for children. */
function notingEngine({ services }: Place, notes: string[]): ContextEngine {
  const { assemble } = createSlidingEngine({ services });
  return defineEngine({
    id: 'noting',
    assemble,
    async prepareChild({ parent }) {
      notes.push(`prepare in ${parent}`);
      return { rollback: async () => void notes.push('rollback') };
    },
    async endChild({ reason, conversationId }) {
      await settle();
      notes.push(`end ${reason}${conversationId === null ? ' without a row' : ''}`);
    },
  });
}

type Own = Partial<BotWorldOptions> & Pick<BotWorldOptions, 'models'>;

const world = (own: Own): Promise<BotWorld> =>
  createBotWorld({
    tools: [research(async (text, { spawn }) => (await spawn({ task: text })).text)],
    engines: { noting },
    ...own,
    agent: { tools: ['research'], engine: 'noting', ...own.agent },
  });

const stored = async (here: BotWorld) =>
  (await here.entries()).map(({ role, parts }) => `${role}: ${textOf(parts) || parts.map(({ kind }) => kind)}`);
const posted = ({ channel }: BotWorld) => [...channel.posts.values()].map(({ body }) => body.text);
const rows = async ({ bot }: BotWorld) => {
  const page = { order: 'key', scope: { within: null }, withChildren: true, limit: 99, after: null } as const;
  return (await bot.services.store.conversations.list(page)).map(({ key }) => key);
};
const notes = ({ bot }: BotWorld) => bot.services.state.list('child');
/** The reply is posted, and the children behind it are deleted. */
const settled = async (here: BotWorld) => {
  await here.settled();
  await until(async () => (await notes(here)).length === 0);
};
const childEnds = ({ events }: BotWorld) =>
  events.flatMap((event) => (event.kind === 'child.ended' ? [event.reason] : []));

describe('a child conversation', () => {
  // Shows: O40
  it('answers as the result of its tool, and nothing stays', async () => {
    const model = delegating(() => ({ text: 'seven boats' }));
    await using here = await world({ models: [model] });
    await here.say('My secret is the harbour. How many boats are there?');
    await settled(here);
    expect(posted(here)).toEqual(['Found: seven boats']);
    expect(await stored(here)).toEqual([
      'user: My secret is the harbour. How many boats are there?',
      'assistant: tool-call',
      'tool: tool-result',
      'assistant: Found: seven boats',
    ]);
    const [asked] = model.requests.filter(({ purpose }) => purpose === 'child');
    expect(said(asked as ModelRequest)).toContain('count the boats');
    expect(said(asked as ModelRequest)).not.toContain('secret');
    expect(asked?.system.map(({ text }) => text).join('\n')).toContain('cannot ask anybody');
    expect(asked?.tools).toEqual([]);
    expect(await rows(here)).toEqual([HERE]);
    expect(await notes(here)).toEqual([]);
    expect(ends).toEqual([`prepare in ${HERE}`, 'end completed']);
    expect(childEnds(here)).toEqual(['completed']);
  });

  it('is paid by its parent, for agent and person', async () => {
    const model = delegating(() => ({ text: 'seven', inputTokens: 40, outputTokens: 2 }));
    await using here = await world({ models: [model] });
    await here.say('How many boats are there?');
    await settled(here);
    const { id } = await here.conversation();
    const { journal } = here.bot.services.store;
    const query = { since: null, conversationId: id, limit: 9 };
    const purposes = await journal.spending({ ...query, by: 'purpose' });
    expect(purposes.find(({ key }) => key === 'child')).toMatchObject({ calls: 1, inputTokens: 40, outputTokens: 2 });
    for (const [by, key] of [
      ['agent', 'main'],
      ['person', 'test:u-ada'],
      ['conversation', HERE],
    ] as const) {
      expect(await journal.spending({ ...query, by })).toMatchObject([{ key, calls: 3 }]);
    }
    expect((await here.command('status')).text + JSON.stringify(await here.command('status'))).toContain(
      'child: 1 call',
    );
    expect((await here.command('why')).text).toBe('This is exactly what the model saw.');
  });

  it('is paid once for each of its turns', async () => {
    const model = delegating(() => ({ text: 'seven', inputTokens: 40, outputTokens: 2 }));
    const more = ['Are you sure?'];
    const tools = [research(async (task, { spawn }) => (await spawn({ task, next: () => more.shift() ?? null })).text)];
    await using here = await world({ models: [model], tools });
    await here.say('How many boats are there?');
    await settled(here);
    const { id } = await here.conversation();
    const query = { since: null, conversationId: id, limit: 9, by: 'purpose' } as const;
    const purposes = await here.bot.services.store.journal.spending(query);
    expect(purposes.find(({ key }) => key === 'child')).toMatchObject({ calls: 2, inputTokens: 80, outputTokens: 4 });
  });

  it('is paid likewise if the store leaves its turn', async () => {
    let isAway = false;
    const { assemble } = noting;
    const leaving: ContextEngine = {
      ...noting,
      async assemble(request) {
        if (isAway) throw new StrataError('STORE_UNREACHABLE', { path: 'here', reason: 'it restarts' });
        return await assemble(request);
      },
    };
    let asked = 0;
    const model = delegating(() => {
      asked += 1;
      isAway = asked === 2;
      return isAway ? { finish: 'refused' } : { text: 'seven' };
    });
    const more = ['Are you sure?'];
    const tools = [
      research(async (task, { spawn }) => {
        const next = () => more.shift() ?? null;
        const answer = await spawn({ task, next }).catch(({ message }: Error) => ({ text: message }));
        isAway = false;
        return answer.text;
      }),
    ];
    await using here = await world({ models: [model], tools, engines: { noting: leaving } });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here).join('')).toContain('it restarts');
    const { id } = await here.conversation();
    const query = { since: null, conversationId: id, limit: 9, by: 'purpose' } as const;
    const purposes = await here.bot.services.store.journal.spending(query);
    expect(purposes.find(({ key }) => key === 'child')).toMatchObject({ calls: 2 });
  });

  it('answers even if its costs cannot be stored', async () => {
    const addUsage = () => Promise.reject(new Error('the ledger is full'));
    await using here = await world({
      models: [delegating(() => ({ text: 'seven boats' }))],
      storage: (own) => ({ ...own, store: { ...own.store, journal: { ...own.store.journal, addUsage } } }),
    });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here)).toEqual(['Found: seven boats']);
    expect(here.events).toContainEqual(expect.objectContaining({ message: 'the ledger is full' }));
  });

  it('compares no request with an earlier one', async () => {
    const asked: number[] = [];
    const storage: BotWorldOptions['storage'] = (own) => {
      const { journal } = own.store;
      const lastRequest = (id: number) => {
        asked.push(id);
        return journal.cache.lastRequest(id);
      };
      return { ...own, store: { ...own.store, journal: { ...journal, cache: { ...journal.cache, lastRequest } } } };
    };
    await using here = await world({ models: [delegating(() => ({ text: 'seven' }))], storage });
    await here.say('How many boats are there?');
    await settled(here);
    expect(asked).toEqual([(await here.conversation()).id]);
  });

  it('uses tools with the rights of the person who asked', async () => {
    const seen: Partial<ToolContext>[] = [];
    const look = defineTool({
      name: 'look',
      description: 'Looks around',
      input: z.object({}),
      async run(_, context) {
        seen.push(context);
        return 'a lighthouse';
      },
    });
    const model = delegating((request) =>
      hasResult(request) ? { text: resultOf(request) } : { calls: [{ tool: 'look', input: {} }] },
    );
    const both = research(async (text, { spawn }) => {
      const answers = await Promise.all([1, 2].map(() => spawn({ task: text, tools: ['look'] })));
      return answers[0]?.text ?? '';
    });
    await using here = await world({ models: [model], tools: [look, both], agent: { tools: ['look', 'research'] } });
    await here.say('What is there?');
    await settled(here);
    expect(posted(here)).toEqual(['Found: a lighthouse']);
    const { id } = await here.conversation();
    const own = {
      conversation: HERE,
      conversationId: id,
      agentId: 'main',
      audience: 'private',
      author: ADA,
      readUpto: 1,
    };
    // Writes of two children are told apart by their keys.
    const keys = [1, 2].map((child) => `${HERE}#t1.research.1/${child}.t1.look.1`);
    const ordered = seen.toSorted((a, b) => String(a.callKey).localeCompare(String(b.callKey)));
    expect(ordered).toMatchObject(keys.map((callKey) => ({ ...own, callKey })));
    const asked = model.requests.find(({ purpose }) => purpose === 'child');
    expect(asked?.tools.map(({ name }) => name)).toEqual(['look']);
  });

  it('searches what its parent may search', async () => {
    const search = { calls: [{ tool: 'transcript_search', input: { query: 'kayak' } }] };
    const model = delegating((request) => (hasResult(request) ? { text: resultOf(request).slice(0, 300) } : search));
    await using here = await world({ models: [model], agent: { tools: ['research', 'transcript_search'] } });
    await here.say('My kayak is green.', { asks: false });
    await here.say('Which colour is it?');
    await settled(here);
    expect(posted(here).join('')).toContain('My kayak is green.');
  });

  it('goes on while its tool has more to say', async () => {
    const model = delegating((request) => ({ text: `heard ${said(request).includes('and the sails')}` }));
    const answers: string[] = [];
    const next = (answer: string) => (answers.push(answer) === 1 ? 'and the sails' : null);
    const tools = [research(async (text, { spawn }) => await spawn({ task: text, next }))];
    await using here = await world({ models: [model], tools });
    await here.say('How many boats are there?');
    await settled(here);
    expect(answers).toEqual(['heard false', 'heard true']);
    expect(posted(here)).toEqual(['Found: {"text":"heard true","turns":2,"tokens":220}']);
  });

  it('is compacted like any other, without memories', async () => {
    const model = delegating(() => ({ text: `FACT Boats are blue. ${filler(120)}`, inputTokens: 0 }));
    let turns = 0;
    const next = async () => {
      await settle();
      turns += 1;
      return turns > 11 ? null : `FACT Boat ${turns} is mine. ${filler(120, turns)}`;
    };
    const tools = [research(async (text, { spawn }) => (await spawn({ task: text, next })).turns)];
    await using here = await world({
      models: [model],
      tools,
      agent: { engine: 'stacked', compaction: { idle_minutes: 0.001 } },
    });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here)).toEqual(['Found: 12']);
    const runs = here.events.flatMap((event) => (event.kind === 'maintenance.ended' ? [event] : []));
    expect(runs.filter(({ run }) => run.work === 'compact' && run.outcome === 'committed')).not.toEqual([]);
    const ofChild = runs.filter(({ conversation }) => conversation?.startsWith(`${HERE}::`));
    expect(ofChild.every(({ run }) => run.work !== 'extract')).toBe(true);
    expect(ofChild.length).toBeGreaterThan(0);
    const reader: MemoryReader = {
      agentId: 'main',
      place: HERE,
      workspace: 'test:here',
      audience: 'dm',
      sharePublic: true,
    };
    const { store } = here.bot.services;
    expect(await store.memories.list({ reader, limit: 9, offset: 0 })).toEqual([]);
    const { id } = await here.conversation();
    const spent = await store.journal.spending({ by: 'purpose', since: null, conversationId: id, limit: 9 });
    expect(spent.find(({ key }) => key === 'compact')?.calls).toBeGreaterThan(0);
    expect(await rows(here)).toEqual([HERE]);
  });
});

it('an idle child is not read for memories', async () => {
  await using here = await createWorld();
  const key = makeChildKey(here.key, 'a');
  for (const said of [key, here.key]) await here.say('FACT Ada rows on Sundays.', { key: said });
  await here.clock.advance(HOUR_MS);
  const { conversations } = here.services.store;
  const runs = [];
  for (const said of [key, here.key]) {
    const conversationId = (await conversations.find(said))?.id ?? 0;
    runs.push((await here.run({ conversationId })).changed);
  }
  expect(runs).toEqual([false, true]);
});

it('an engine that ends no child holds up no start', async () => {
  const hanging: ContextEngine = { ...noting, endChild: () => new Promise(() => undefined) };
  await using here = await world({
    models: [scriptedModel(() => ({ text: 'Here.' }), { id: 'test:chat' })],
    engines: { noting: hanging },
    started: false,
  });
  await here.bot.services.state.set('child', makeChildKey(HERE, 'a'), { parent: HERE, parentId: 1, epoch: 1 });
  expect(await endsWithin(here.bot.start(), 20_000)).toBe(true);
  await here.say('Are you there?');
  await here.settled();
  expect(posted(here)).toEqual(['Here.']);
});

describe('the end of a child', () => {
  const DEADLINE_MS = 20;
  const failing: readonly (readonly [string, Script, string])[] = [
    ['its model fails', () => Promise.reject(new Error('out of ink')), 'out of ink'],
    ['its model says nothing', () => ({ text: '' }), 'gave no answer'],
  ];
  it.each(failing)('is reported when %s', async (_, script, reason) => {
    await using here = await world({ models: [delegating(script)] });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here).join('')).toContain(reason);
    expect(ends).toEqual([`prepare in ${HERE}`, 'end failed']);
    expect([await rows(here), await notes(here)]).toEqual([[HERE], []]);
  });

  it.each([
    ['at once', 0],
    ['after the deadline', 10 * DEADLINE_MS],
  ])('follows the end of the bot %s', async (_, takesMs) => {
    const model = delegating(() => new Promise<Said>(() => undefined));
    const { endChild } = noting;
    noting = {
      ...noting,
      async endChild(ending) {
        await sleep(takesMs);
        await endChild(ending);
      },
    };
    await using here = await world({ models: [model] });
    await here.say('How many boats are there?');
    await until(() => model.requests.some(({ purpose }) => purpose === 'child'));
    await here.bot.stop({ deadlineMs: DEADLINE_MS });
    expect(ends).toEqual([`prepare in ${HERE}`, 'end aborted']);
    model.script = delegating(() => ({ text: 'seven' })).script;
    await here.restart();
    await settled(here);
    expect(ends).not.toContain('end swept');
    expect(posted(here)).toEqual(['Found: seven']);
    expect([await rows(here), await notes(here)]).toEqual([[HERE], []]);
  });

  it('comes after what the engine hears of its turns', async () => {
    noting = {
      ...noting,
      async ingestBatch({ snapshot }) {
        if (snapshot.conversation.key === HERE) return { ingested: 0 };
        await sleep(DEADLINE_MS);
        ends.push('ingest');
        return { ingested: 1 };
      },
    };
    await using here = await world({ models: [delegating(() => ({ text: 'seven boats' }))] });
    await here.say('How many boats are there?');
    await settled(here);
    expect(ends).toEqual([`prepare in ${HERE}`, 'ingest', 'end completed']);
  });

  it('comes at the next start after a crash', async () => {
    const model = delegating(() => new Promise<Said>(() => undefined));
    await using here = await world({ models: [model] });
    await here.say('How many boats are there?');
    await until(() => model.requests.some(({ purpose }) => purpose === 'child'));
    expect(await rows(here)).toHaveLength(2);
    model.script = delegating(() => ({ text: 'seven' })).script;
    await here.crash();
    await settled(here);
    expect(ends.filter((end) => end === 'end swept')).toHaveLength(1);
    expect(posted(here)).toEqual(['Found: seven']);
    expect([await rows(here), await notes(here)]).toEqual([[HERE], []]);
  });

  it('follows a tool that does not wait', async () => {
    let ended: Promise<unknown> = Promise.resolve();
    const impatient = async (text: string, { spawn }: ToolContext) => {
      ended = spawn({ task: text });
      return 'soon';
    };
    const model = delegating(() => new Promise<Said>(() => undefined));
    await using here = await world({ models: [model], tools: [research(impatient)] });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here)).toEqual(['Found: soon']);
    await expect(ended).rejects.toThrow('The tool call has ended.');
    await until(async () => (await rows(here)).length === 1);
    expect(ends.at(-1)).toBe('end aborted');
  });

  /** The store takes no message of a child. */
  const childless: BotWorldOptions['storage'] = (own) => ({
    ...own,
    store: {
      ...own.store,
      transcript: {
        ...own.store.transcript,
        append: (append) =>
          append.conversation === HERE
            ? own.store.transcript.append(append)
            : Promise.reject(new Error('the disk is full')),
      },
    },
  });

  // Shows: O41
  it('is a rollback if the child never started', async () => {
    await using here = await world({ models: [delegating(() => ({ text: 'seven' }))], storage: childless });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here)).toEqual(['Found: the disk is full']);
    expect(ends).toEqual([`prepare in ${HERE}`, 'rollback']);
    expect(await notes(here)).toEqual([]);
  });

  it('is left to a sweep if the rollback fails', async () => {
    const rollback = () => Promise.reject(new Error('no way back'));
    noting = { ...noting, prepareChild: async () => ({ rollback }) };
    await using here = await world({ models: [delegating(() => ({ text: 'seven' }))], storage: childless });
    await here.say('How many boats are there?');
    await here.settled();
    expect(posted(here)).toEqual(['Found: the disk is full']);
    const reported = here.events.flatMap((event) => (event.kind === 'error.internal' ? [event.message] : []));
    expect(reported).toEqual(['no way back']);
    expect([ends, (await notes(here)).length]).toEqual([[], 1]);
    const other = createChildren({ services: here.bot.services, engineFor: () => noting } as never);
    await other.sweep();
    expect(ends).toEqual(['end swept without a row']);
    expect(await notes(here)).toEqual([]);
  });
});

describe('an engine that ends no child', () => {
  it.each([
    // Another engine takes its place.
    ['because it breaks', 0, () => Promise.reject(new Error('broken'))],
    ['in time', 1, () => new Promise<void>(() => undefined)],
  ])('%s holds up no reply', async (_, kept, endChild) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    noting = defineEngine({ id: 'noting', assemble: noting.assemble, prepareChild: noting.prepareChild, endChild });
    await using here = await world({ models: [delegating(() => ({ text: 'seven boats' }))] });
    await here.say('How many boats are there?');
    await here.settled();
    expect(posted(here)).toEqual(['Found: seven boats']);
    await vi.advanceTimersByTimeAsync(60_000);
    vi.useRealTimers();
    await until(async () => (await rows(here)).length === 1);
    // What follows the deletion of the child has been done.
    for (let turn = 0; turn < 50; turn += 1) await settle();
    expect(await notes(here)).toHaveLength(kept);
    const other = createChildren({ services: here.bot.services, engineFor: () => notingEngine(place, ends) } as never);
    await other.sweep();
    expect(await notes(here)).toEqual([]);
    expect(ends.at(-1)).toBe(kept === 0 ? `prepare in ${HERE}` : 'end swept without a row');
  });

  it('keeps nothing of a turn that it never received', async () => {
    const ingestBatch = () => Promise.reject(new Error('broken'));
    noting = { ...noting, ingestBatch };
    await using here = await world({ models: [delegating(() => ({ text: 'seven boats' }))] });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here)).toEqual(['Found: seven boats']);
    expect(await rows(here)).toEqual([HERE]);
  });
});

describe('another process', () => {
  it('leaves a running child alone, and ends an orphan', async () => {
    const model = delegating(() => new Promise<Said>(() => undefined));
    await using here = await world({ models: [model] });
    await here.say('How many boats are there?');
    await until(() => model.requests.some(({ purpose }) => purpose === 'child'));
    const other = createChildren({ services: here.bot.services, engineFor: () => noting } as never);
    await other.sweep();
    expect(ends).toEqual([`prepare in ${HERE}`]);
    expect(await rows(here)).toHaveLength(2);
    const { id } = await here.conversation();
    await here.bot.services.store.conversations.change(id, { kind: 'reset', now: here.clock.now() });
    await other.sweep();
    expect(ends).toEqual([`prepare in ${HERE}`, 'end swept without a row']);
  });

  it('ends a child after the claim of its turn', async () => {
    await using here = await world({ models: [delegating(() => ({ text: 'seven' }))], started: false });
    const { services } = here.bot;
    const about = { externalId: 'm1', author: ADA, replyTo: null, mentions: [], tokens: 5, at: here.clock.now() };
    const asked = await services.store.transcript.append({
      conversation: HERE,
      audience: 'private',
      wantsReply: true,
      claimLeaseMs: 10_000,
      idleExtractMs: 600_000,
      message: { ...about, role: 'user', parts: [{ kind: 'text', text: 'How many?' }] },
      now: here.clock.now(),
    });
    const { id, replyEpoch } = asked.conversation;
    await services.state.set('child', makeChildKey(HERE, 'a'), { parent: HERE, parentId: id, epoch: replyEpoch });
    const earlier = { parent: HERE, parentId: id, epoch: replyEpoch - 1 };
    await services.state.set('child', makeChildKey(HERE, 'b'), earlier);
    const other = createChildren({ services, engineFor: () => noting } as never);
    await here.clock.advance(9999);
    await other.sweep();
    expect(ends).toEqual(['end swept without a row']);
    expect(await notes(here)).toHaveLength(1);
    await here.clock.advance(1);
    await other.sweep();
    expect(ends).toHaveLength(2);
    expect(await notes(here)).toEqual([]);
  });

  it('leaves children alone that their engine cannot start', async () => {
    const broke = () => Promise.reject(new Error('broken'));
    noting = defineEngine({ id: 'broken', assemble: noting.assemble, prepareChild: broke, endChild: broke });
    await using here = await world({ models: [delegating(() => ({ text: 'seven boats' }))] });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here)).toEqual(['Found: seven boats']);
    expect([await rows(here), await notes(here)]).toEqual([[HERE], []]);
  });
});

describe('the key of a child', () => {
  it('has the agent and the rules of its parent', async () => {
    const thread = makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: 't1' });
    const agent = { routes: [{ match: thread, mode: 'observe' as const }] };
    await using here = await world({ models: [delegating(() => ({ text: 'seven' }))], agent });
    const { agents } = here.bot.services;
    const modes = [thread, makeChildKey(thread, 'a'), makeChildKey(HERE, 'a')].map((key) => agents.agentFor(key).mode);
    expect(modes).toEqual(['observe', 'observe', agents.agentFor(HERE).mode]);
    expect(modes[2]).not.toBe('observe');
  });

  it('gets no reply on the platform', async () => {
    const model = delegating(() => ({ text: 'seven' }));
    await using here = await world({ models: [model] });
    const about = { externalId: null, author: ADA, replyTo: null, mentions: [], tokens: 5, at: here.clock.now() };
    await here.bot.services.store.transcript.append({
      conversation: makeChildKey(HERE, 'a'),
      audience: 'private',
      wantsReply: true,
      claimLeaseMs: null,
      message: { ...about, role: 'user', parts: [{ kind: 'text', text: 'count the boats' }] },
      idleExtractMs: 600_000,
      now: here.clock.now(),
    });
    await here.restart();
    await settled(here);
    expect(model.requests).toEqual([]);
    expect(posted(here)).toEqual([]);
  });
});

describe('a child is limited', () => {
  const trying = (run: (spawn: Spawn, text: string) => Promise<unknown>) => [
    research(async (text, { spawn }) => JSON.stringify(await run(spawn, text))),
  ];

  it('in its turns', async () => {
    const tools = trying((spawn, task) => spawn({ task, next: () => 'go on' }));
    const model = delegating(() => ({ text: 'yes' }));
    await using here = await world({ models: [model], tools });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here).join('')).toContain('limited to 16 turns');
    expect(model.requests.filter(({ purpose }) => purpose === 'child')).toHaveLength(16);
    expect(ends).toEqual([`prepare in ${HERE}`, 'end failed']);
  });

  it('in its tokens', async () => {
    const model = delegating(() => ({ text: 'yes', inputTokens: 30, outputTokens: 5 }));
    const tools = trying((spawn, task) => spawn({ task, next: () => 'go on', maxTokens: 100 }));
    await using here = await world({ models: [model], tools });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here).join('')).toContain('limited to 100 tokens');
    expect(model.requests.filter(({ purpose }) => purpose === 'child')).toHaveLength(3);
  });

  it('in its tokens within a turn', async () => {
    const model = delegating(() => ({ ...asks('deeper'), inputTokens: 30, outputTokens: 5 }));
    const tools = trying(async (spawn, task) =>
      task === 'deeper' ? 'nothing' : await spawn({ task, tools: ['research'], maxTokens: 100 }),
    );
    await using here = await world({ models: [model], tools });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here).join('')).toContain('limited to 100 tokens');
    expect(model.requests.filter(({ purpose }) => purpose === 'child')).toHaveLength(3);
  });

  it('in its depth', async () => {
    const deeper = delegating((request) => (hasResult(request) ? { text: resultOf(request) } : asks('deeper')));
    const tools = trying(async (spawn, task) => (await spawn({ task, tools: ['research'] })).text);
    await using here = await world({ models: [deeper], tools });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here).join('')).toContain('limited to 2 levels');
    expect(ends.filter((note) => note === 'end completed')).toHaveLength(2);
    expect(await rows(here)).toEqual([HERE]);
  });

  it('in its number', async () => {
    const tools = trying(async (spawn, task) => {
      const all = await Promise.allSettled(Array.from({ length: 20 }, () => spawn({ task })));
      return all.filter(({ status }) => status === 'fulfilled').length;
    });
    await using here = await world({ models: [delegating(() => ({ text: 'yes' }))], tools });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here)).toEqual(['Found: 16']);
    expect(await rows(here)).toEqual([HERE]);
  });

  it('in the number of its own children, with those before', async () => {
    const child = delegating((request) => {
      if (request.tools.length === 0) return { text: 'yes' };
      return hasResult(request) ? { text: resultOf(request) } : asks('deeper');
    });
    const tools = trying(async (spawn, task) => {
      if (task !== 'deeper') return (await spawn({ task, tools: ['research'] })).text;
      const all = await Promise.allSettled(Array.from({ length: 20 }, () => spawn({ task })));
      return all.filter(({ status }) => status === 'fulfilled').length;
    });
    await using here = await world({ models: [child], tools });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here)).toEqual(['Found: "15"']);
  });

  it('in its time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let isWaiting = false;
    const next = () => {
      isWaiting = true;
      return new Promise<null>(() => undefined);
    };
    const tools = trying((spawn, task) => spawn({ task, next }));
    await using here = await world({ models: [delegating(() => ({ text: 'yes' }))], tools });
    await here.say('How many boats are there?');
    for (let turn = 0; turn < 100 && !isWaiting; turn += 1) await settle();
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS - 1);
    expect(ends).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    vi.useRealTimers();
    await settled(here);
    expect(posted(here).join('')).toContain('limited to 10 minutes');
    expect(ends.at(-1)).toBe('end failed');
  });

  it('to the tools of its agent', async () => {
    const tools = trying((spawn, task) => spawn({ task, tools: ['memory_save'] }));
    await using here = await world({ models: [delegating(() => ({ text: 'yes' }))], tools });
    await here.say('How many boats are there?');
    await settled(here);
    expect(posted(here).join('')).toContain('There is no tool memory_save here');
  });
});
