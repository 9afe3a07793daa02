import { describe, expect, it } from 'vitest';
import { readerFor } from '../../../src/memory/rights/policy.ts';
import { explainReply } from '../../../src/requests/explain.ts';
import { ADA, type BotWorld, createBotWorld, HERE } from '../../support/bot-world.ts';
import { faithful, scriptedModel } from '../compaction/compaction.world.ts';

const SECRET = 'swordfish';

async function talk(): Promise<BotWorld> {
  const models = [scriptedModel(() => ({ text: 'I see.' }), { id: 'test:chat' }), scriptedModel(faithful)];
  return await createBotWorld({ models, agent: { compaction: { model: 'test:summariser' } } });
}

async function ask(world: BotWorld, text: string): Promise<void> {
  await world.say(text);
  await world.settled();
}

async function command(world: BotWorld, path: string, options: Readonly<Record<string, string>> = {}) {
  const { audience } = await world.conversation();
  const by = { author: ADA, rights: 'operator', conversation: HERE, audience } as const;
  return await world.bot.sink.command({ ...by, path: path.split(' '), options });
}

/** What `/why` shows of the part. */
async function partOf(world: BotWorld, part: string): Promise<string> {
  return (await command(world, 'why detail', { part })).text;
}

/** The newest reply. */
async function explain(world: BotWorld) {
  const conversation = await world.conversation();
  const seq = (await world.entries()).findLast(({ role }) => role === 'assistant')?.seq ?? 0;
  return await explainReply(world.bot.services, { conversation, seq, reader: null });
}

describe('a memory that the model saw', () => {
  const recalled = async () => {
    const world = await talk();
    await world.say('Hello.', { asks: false });
    await command(world, 'memory remember', { text: `the launch code is ${SECRET}` });
    await ask(world, 'What is the launch code?');
    expect(await partOf(world, 'memories')).toContain(SECRET);
    return world;
  };

  it('is not shown to those who came later', async () => {
    await using world = await recalled();
    await world.bot.sink.audienceChanged(HERE, 'public');
    expect(await partOf(world, 'memories')).toContain('(not readable here)');
    expect(await partOf(world, 'memories')).not.toContain(SECRET);
  });

  it('is not replaced by its later text', async () => {
    await using world = await recalled();
    await world.clock.advance(60_000);
    const id = (await command(world, 'memory list')).rows?.cells[0]?.[0] ?? '';
    await command(world, 'memory edit', { id, text: 'the launch code is sesame' });
    expect(await partOf(world, 'memories')).toContain('(edited since');
    expect(await partOf(world, 'memories')).not.toContain('sesame');
    // Edits are known by the minute.
    await world.clock.advance(60_000);
    await ask(world, 'And what is the launch code now?');
    await world.clock.advance(60_000);
    await command(world, 'memory pin', { id });
    expect(await partOf(world, 'memories')).toContain('sesame');
  });
});

it('a standing instruction is not shown once it is forgotten', async () => {
  await using world = await talk();
  await world.say('Hello.', { asks: false });
  const { commandServices, services } = world.bot;
  const reader = readerFor(await world.conversation(), services.agents.agentFor(HERE));
  const by = { reader, author: ADA, rights: 'operator' } as const;
  const text = `Always mention the ${SECRET}.`;
  const added = await commandServices.memories.add({ text, kind: 'instruction', scope: 'place', by });
  await ask(world, 'How are you?');
  expect(await partOf(world, 'instructions')).toContain(SECRET);
  const id = added.kind === 'forgotten' ? '' : added.memory.id;
  await command(world, 'memory forget', { id, confirm: 'yes' });
  const { blocks, exactness } = await explain(world);
  expect(exactness).toBe('gone');
  expect(blocks.find(({ key }) => key === 'instructions')).toMatchObject({ kind: 'section', gone: 'deleted' });
  expect(JSON.stringify(blocks)).not.toContain(SECRET);
});

it('a message edited before the request is shown edited', async () => {
  await using world = await talk();
  await world.say('My tent is red.', { id: 'tent' });
  const parts = [{ kind: 'text', text: 'My tent is blue.' }] as const;
  await world.bot.sink.edited({ conversation: HERE, externalId: 'tent', parts, at: world.clock.now() });
  await ask(world, 'Which colour is it?');
  const explained = await explain(world);
  expect(explained.exactness).toBe('exact');
  expect(JSON.stringify(explained.blocks)).toContain('blue');
});

describe('a summary that the model saw', () => {
  const summarised = async () => {
    const world = await talk();
    for (const name of [SECRET, 'seal', 'ferry']) {
      await ask(world, `The ${name} in the harbour sleeps until the evening comes at nine. `.repeat(20));
    }
    await command(world, 'compact');
    await ask(world, 'Who sleeps?');
    const { blocks } = await explain(world);
    expect(blocks.find(({ kind }) => kind === 'summary')?.text).toContain(SECRET);
    return world;
  };

  it('is gone with a message that it contains', async () => {
    await using world = await summarised();
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
    const { blocks, exactness } = await explain(world);
    expect(exactness).toBe('gone');
    expect(blocks.find(({ kind }) => kind === 'summary')).toMatchObject({ gone: 'deleted', text: '(deleted since)' });
  });

  it('is not shown after a reset', async () => {
    await using world = await summarised();
    await command(world, 'reset');
    const { blocks } = await explain(world);
    expect(JSON.stringify(blocks)).not.toContain(SECRET);
    expect(blocks.find(({ kind }) => kind === 'summary')?.gone).toBe('reset');
  });
});
