import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, ModelError, type ModelRequest, type Tool } from '../../src/adapter-kit.ts';
import type { Hooks } from '../../src/hooks/hooks.ts';
import { faithful, type Said, type Script, scriptedModel, until } from '../core/compaction/compaction.world.ts';
import { type BotWorld, createBotWorld, HERE } from '../support/bot-world.ts';
import { filesWith } from '../support/on-disk.ts';
import { SIZED, spread } from '../support/size.ts';

/** Text that somebody deletes while the bot works with it: no file of the database contains it afterwards. */

const SECRET = 'kingfisher';
const TOLD = `The code of my gate is ${SECRET}.`;

/** How the text is deleted. */
const WAYS: readonly (readonly [string, (here: BotWorld) => Promise<unknown>])[] = [
  ['forgotten', forgetFirst],
  ['deleted on its platform', ({ bot }) => bot.sink.removed({ conversation: HERE, externalIds: ['m1'] })],
  ['erased', (here) => here.command('privacy erase', { confirm: 'yes' })],
  ['too old', ({ bot, clock }) => expire(bot, clock.now() + 1)],
  [
    'edited',
    ({ bot, clock }) => bot.sink.edited({ conversation: HERE, externalId: 'm1', parts: EDITED, at: clock.now() }),
  ],
];
/** In another order, so that the small sizes of both tables together have every way. */
const WAYS_ROTATED = [...WAYS.slice(1), ...WAYS.slice(0, 1)];
const EDITED = [{ kind: 'text', text: 'The code of my gate is none of your business.' }] as const;

async function forgetFirst(here: BotWorld): Promise<void> {
  const question = await here.command('memory forget', { id: '#1' });
  const { path = [], options = {} } = question.actions[0]?.command ?? {};
  await here.command(path.join(' '), options);
}

async function expire({ services }: BotWorld['bot'], before: number): Promise<void> {
  const conversation = await services.store.conversations.find(HERE);
  await services.store.conversations.change(conversation?.id ?? 0, { kind: 'expire', before, now: before });
}

const callOf = (tool: string): Said => ({ calls: [{ tool, input: {} }] });
const isReply = ({ purpose }: ModelRequest) => purpose === 'reply';
const hasResult = ({ messages }: ModelRequest) => messages.at(-1)?.role === 'tool';
const said = ({ messages }: ModelRequest) => JSON.stringify(messages);

let here: BotWorld | null = null;
afterEach(async () => {
  await here?.[Symbol.asyncDispose]();
  here = null;
});

interface Talk {
  readonly script: Script;
  readonly tools?: readonly Tool[];
  readonly hooks?: readonly Hooks[];
}

/** Ada tells the secret, and something is under way. `during` is called once, in the middle of it. */
async function open({ script, tools = [], hooks = [] }: Talk): Promise<BotWorld> {
  const names = tools.map(({ name }) => name);
  const agent = { tools: [...names, 'blob_read'], context_window: 8000 };
  here = await createBotWorld({ models: [scriptedModel(script, { id: 'test:chat' })], tools, hooks, agent });
  return here;
}

/** A tool in the middle of which the text is removed, once. Its long result quotes the text all the same. */
function createLook(remove: () => Promise<unknown>): { readonly look: Tool; readonly isDone: () => boolean } {
  let isDone = false;
  const look = defineTool({
    name: 'look',
    description: 'Looks something up',
    input: z.object({}),
    async run() {
      if (!isDone) await remove();
      isDone = true;
      return `${SECRET} `.repeat(4000);
    },
  }) as Tool;
  return { look, isDone: () => isDone };
}

/** Waits for background work, and for a postponed scrub. */
async function isGone({ directory }: BotWorld): Promise<void> {
  await until(() => filesWith(directory, SECRET) === '');
}

describe.each(spread(WAYS, 3))('text that is %s', SIZED, (_, remove) => {
  it('while a tool returns a long result', async () => {
    const { look, isDone } = createLook(() => remove(world));
    const script: Script = (request, given) => {
      if (!isReply(request)) return faithful(request, given);
      return hasResult(request) || !said(request).includes(SECRET) ? { text: 'Well.' } : callOf('look');
    };
    const world = await open({ script, tools: [look] });
    await world.say(TOLD, { id: 'm1' });
    await until(isDone);
    await world.settled();
    await isGone(world);
  });

  it('while a child works with it', async () => {
    const research = defineTool({
      name: 'research',
      description: 'Finds something out',
      input: z.object({}),
      run: async (_input, { spawn }) => (await spawn({ task: `Open the gate with ${SECRET}.` })).text,
    }) as Tool;
    const { look, isDone } = createLook(() => remove(world));
    const script: Script = (request, given) => {
      if (request.purpose === 'child') return hasResult(request) ? { text: SECRET } : callOf('look');
      if (!isReply(request)) return faithful(request, given);
      return hasResult(request) || !said(request).includes(SECRET) ? { text: 'Well.' } : callOf('research');
    };
    const world = await open({ script, tools: [research, look] });
    await world.say(TOLD, { id: 'm1' });
    await until(isDone);
    await world.settled();
    await isGone(world);
    await until(async () => (await world.bot.services.state.list('child')).length === 0);
  });

  it('while a model answers a request that a hook changed', async () => {
    let isDone = false;
    const block = { text: `Never say ${SECRET}.`, cacheBreak: false };
    const model: NonNullable<Hooks['model']> = (call, next) =>
      said({ messages: call.messages } as ModelRequest).includes(SECRET)
        ? next({ system: [block, ...call.system] })
        : next({});
    const script: Script = async (request, given) => {
      if (!isReply(request)) return faithful(request, given);
      if (!isDone) await remove(world);
      isDone = true;
      return { text: 'Well.' };
    };
    const world = await open({ script, hooks: [{ model }] });
    await world.say(TOLD, { id: 'm1' });
    await until(() => isDone);
    await world.settled();
    await isGone(world);
  });
});

describe.each(spread(WAYS_ROTATED, 3))('text that is %s', SIZED, (_, remove) => {
  it('after a provider has quoted it in an error', async () => {
    const script: Script = (request) => {
      if (!said(request).includes(SECRET)) return { text: 'Well.' };
      throw new ModelError({ model: 'test:chat', reason: 'fatal', detail: `rejected: ${TOLD}` });
    };
    const world = await open({ script });
    await world.say(TOLD, { id: 'm1' });
    await world.settled();
    const { id } = await world.conversation();
    await world.command('compact');
    expect(filesWith(world.directory, SECRET)).not.toBe('');
    await remove(world);
    expect(await world.bot.services.state.of(id).get('last-failure')).toBeUndefined();
    await isGone(world);
  });

  it('while a job fails and its error quotes it', async () => {
    let isDone = false;
    const script: Script = async (request) => {
      if (isReply(request)) return { text: 'Well.' };
      if (said(request).includes(SECRET)) await remove(world);
      isDone ||= said(request).includes(SECRET);
      throw new ModelError({ model: 'test:chat', reason: 'fatal', detail: `rejected: ${TOLD}` });
    };
    const world = await open({ script });
    await world.say(TOLD, { id: 'm1' });
    for (let n = 0; n < 6; n += 1) await world.say(`Number ${n} of ${'many boats '.repeat(30)}`);
    await world.settled();
    await world.command('compact');
    await until(() => isDone);
    await isGone(world);
  });

  it('while a job summarises it', async () => {
    let isDone = false;
    const script: Script = async (request, given) => {
      if (isReply(request)) return { text: 'Well.' };
      const answer = await faithful(request, given);
      if (!isDone && said(request).includes(SECRET)) {
        isDone = true;
        await remove(world);
      }
      return answer;
    };
    const world = await open({ script });
    await world.say(TOLD, { id: 'm1' });
    for (let n = 0; n < 6; n += 1) await world.say(`Number ${n} of ${'many boats '.repeat(30)}`);
    await world.settled();
    await world.command('compact');
    expect(isDone).toBe(true);
    await isGone(world);
  });
});
