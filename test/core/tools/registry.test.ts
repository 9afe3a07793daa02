import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type BlobId,
  defineTool,
  isStrataError,
  type JsonValue,
  type Tool,
  type ToolContext,
} from '../../../src/adapter-kit.ts';
import { agentDefaults } from '../../../src/config/defaults.ts';
import { createBlobTool } from '../../../src/tools/blob-tool.ts';
import { offload } from '../../../src/tools/offload.ts';
import { createToolRegistry } from '../../../src/tools/registry.ts';
import { headBytes } from '../../../src/util/text/utf8.ts';
import { ada, dm, openWorld, type World } from '../memory/memory.world.ts';

const { blob_bytes: MAX_BYTES, recent_bytes: keptBytes } = agentDefaults.tool_results;
const sizes = { blobBytes: MAX_BYTES, keptBytes };

const echo = (name: string, run: Tool<{ text?: string | undefined }>['run']) =>
  defineTool({ name, description: `the tool ${name}`, input: z.object({ text: z.string().optional() }), run });

async function contextOf(world: World, over: Partial<ToolContext> = {}): Promise<ToolContext> {
  await world.say('hello');
  const { id, nextSeq } = await world.conversation();
  return {
    conversation: dm,
    conversationId: id,
    agentId: 'main',
    audience: 'dm',
    author: ada,
    callKey: `${dm}#t1c1`,
    readUpto: nextSeq - 1,
    signal: new AbortController().signal,
    spawn: () => Promise.reject(new Error('nothing is spawned here')),
    ...over,
  };
}

const call = (tool: string, input: JsonValue = {}) => ({ callId: 'c1', tool, input });
const offered = (...names: string[]) => names.map((name) => ({ name, description: '', inputSchema: {} }));

describe('the registry', () => {
  it('refuses two tools of one name', () => {
    const tool = echo('same', async () => 'x');
    const make = () => createToolRegistry({ services: {} as never, tools: [tool, tool] });
    expect(make).toThrowError(expect.toSatisfy((error: unknown) => isStrataError(error, 'TOOL_DUPLICATE')));
  });

  it.each([
    ['a name with a space', 'roll dice', z.object({}), /^The tool "roll dice" cannot be used: expected a name/],
    ['an empty name', '', z.object({}), /expected a name of at most 64/],
    ['a long name', 'a'.repeat(65), z.object({}), /expected a name of at most 64/],
    ['a text as input', 'roll', z.string(), /its input must be one object/],
    ['a date in its input', 'roll', z.object({ day: z.date() }), /"roll".*Date cannot be represented/],
  ])('refuses %s', async (_, name, input, problem) => {
    await using world = await openWorld();
    const tools = [defineTool<unknown>({ name, description: '', input, run: () => 1 })];
    expect(() => createToolRegistry({ services: world.services, tools })).toThrow(problem);
  });

  it('does not count the time of a child', async () => {
    await using world = await openWorld();
    const tool = defineTool({
      name: 'ask',
      description: 'asks',
      input: z.object({ hangs: z.boolean() }),
      async run({ hangs }, { spawn }) {
        const { text } = await spawn({ task: 'count' });
        return hangs ? await new Promise<string>(() => undefined) : text;
      },
    }) as Tool;
    const registry = createToolRegistry({ services: world.services, tools: [tool], timeLimitMs: 20 });
    const spawn = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { text: 'seven', turns: 1, tokens: 2 };
    };
    const context = await contextOf(world, { spawn });
    const [answered, hung] = await Promise.all(
      [false, true].map((hangs) => registry.run(call('ask', { hangs }), context, offered('ask'))),
    );
    expect(answered).toMatchObject({ text: 'seven', isError: false });
    expect(hung).toMatchObject({ isError: true });
  });

  it('describes the named tools with the schema of their input', async () => {
    await using world = await openWorld();
    const registry = createToolRegistry({
      services: world.services,
      tools: [echo('one', async () => ''), echo('two', async () => '')],
    });
    expect(registry.specs(['two'])).toMatchObject([
      {
        name: 'two',
        description: 'the tool two',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      },
    ]);
    expect(() => registry.specs(['three'])).toThrowError(/no tool three/);
  });

  it('describes a tool that was offered by name', async () => {
    await using world = await openWorld();
    const tools = [echo('one', async () => ''), echo('two', async () => '')];
    const registry = createToolRegistry({ services: world.services, tools });
    const inputSchema = { type: 'object', properties: { tool: { type: 'string', enum: ['one'] } } };
    const help = [{ name: 'tool_help', description: '', inputSchema }];
    const context = await contextOf(world);
    const described = await registry.run(call('tool_help', { tool: 'one' }), context, help);
    expect(JSON.parse(described.text)).toEqual(registry.specs(['one'])[0]);
    for (const tool of ['two', 'three']) {
      expect(await registry.run(call('tool_help', { tool }), context, help)).toMatchObject({ isError: true });
    }
    expect(await registry.run(call('tool_help', { tool: 'one' }), context, [])).toMatchObject({ isError: true });
  });

  it('runs a tool that tool_help names without opening it', async () => {
    await using world = await openWorld();
    const tools = [echo('one', async ({ text }) => `said ${text}`), echo('two', async () => '')];
    const registry = createToolRegistry({ services: world.services, tools });
    const inputSchema = { type: 'object', properties: { tool: { type: 'string', enum: ['one'] } } };
    const help = [{ name: 'tool_help', description: '', inputSchema }];
    const context = await contextOf(world);
    expect(await registry.run(call('one', { text: 'hi' }), context, help)).toMatchObject({ text: 'said hi' });
    expect(await registry.run(call('two'), context, help)).toMatchObject({ isError: true });
  });

  it('takes a tool that returns nothing', async () => {
    await using world = await openWorld();
    const registry = createToolRegistry({ services: world.services, tools: [echo('ring', async () => {})] });
    const result = await registry.run(call('ring'), await contextOf(world), offered('ring'));
    expect(result).toMatchObject({ text: 'Done.', isError: false });
  });

  it.each([
    ['paper', 'at once', false],
    ['state', '{"is":1}', false],
    ['broken', 'out of paper', true],
  ])('takes tools that are not asynchronous: %s', async (name, text, isError) => {
    await using world = await openWorld();
    const broken = (): never => {
      throw new Error('out of paper');
    };
    const state = echo('state', () => ({ is: 1, isNot: undefined }));
    const tools = [echo('paper', () => 'at once'), state, echo('broken', broken)];
    const registry = createToolRegistry({ services: world.services, tools });
    const result = await registry.run(call(name), await contextOf(world), offered(name));
    expect(result).toMatchObject({ text, isError });
  });

  it('answers with text, JSON and errors for the model', async () => {
    await using world = await openWorld();
    const tools = [
      echo('word', async ({ text }) => `said ${text}`),
      echo('data', async () => ({ list: [1, 2] })),
      echo('broken', async () => {
        throw new Error('the printer is on fire');
      }),
    ];
    const registry = createToolRegistry({ services: world.services, tools });
    const context = await contextOf(world);
    expect(await registry.run(call('word', { text: 'hi' }), context, offered('word'))).toEqual({
      kind: 'tool-result',
      callId: 'c1',
      tool: 'word',
      text: 'said hi',
      isError: false,
      blob: null,
    });
    expect((await registry.run(call('data'), context, offered('data'))).text).toBe('{"list":[1,2]}');
    const failed = await registry.run(call('broken'), context, offered('broken'));
    expect(failed).toMatchObject({ isError: true, text: 'the printer is on fire' });
    const wrong = await registry.run(call('word', { text: 5 }), context, offered('word'));
    expect(wrong.isError).toBe(true);
    expect(wrong.text).toMatch(/input of tool word is invalid.*text/s);
    expect(await registry.run(call('unknown'), context, offered('unknown'))).toMatchObject({
      isError: true,
      text: expect.stringContaining('unknown'),
    });
    const called = world.seen.filter((event) => event.kind === 'tool.called');
    expect(called.map((event) => event.isError)).toEqual([false, false, true, true, true]);
  });

  const place = z.object({
    seq: z.int(),
    from: z.int().default(0),
    kind: z.enum(['fact', 'event']).optional(),
    tags: z.array(z.string()).default([]),
    isNew: z.boolean().default(false),
    at: z.object({ days: z.array(z.int()) }).optional(),
  });
  const runWith = async (input: JsonValue) => {
    await using world = await openWorld();
    const tool = defineTool({ name: 'open', description: '', input: place, run: (given) => ({ ...given }) });
    const registry = createToolRegistry({ services: world.services, tools: [tool] });
    return await registry.run(call('open', input), await contextOf(world), offered('open'));
  };

  it.each<[JsonValue, object]>([
    [{ seq: '12' }, { seq: 12, from: 0, tags: [], isNew: false }],
    [
      { seq: '#12', from: null, kind: null, at: null },
      { seq: 12, from: 0, tags: [], isNew: false },
    ],
    [
      { seq: 1, tags: 'boat', isNew: 'true' },
      { seq: 1, from: 0, tags: ['boat'], isNew: true },
    ],
    [
      { seq: 1, tags: '["boat", "tea"]' },
      { seq: 1, from: 0, tags: ['boat', 'tea'], isNew: false },
    ],
    [
      { seq: 1, tags: '[boat' },
      { seq: 1, from: 0, tags: ['[boat'], isNew: false },
    ],
    [
      { seq: 1, at: { days: ['4', 5] } },
      { seq: 1, from: 0, tags: [], isNew: false, at: { days: [4, 5] } },
    ],
  ])('takes the input %j', async (input, given) => {
    const { text, isError } = await runWith(input);
    expect([JSON.parse(text), isError]).toEqual([given, false]);
  });

  it.each<JsonValue>([
    { seq: 'twelve' },
    { seq: null },
    { seq: '1.5' },
    { seq: 1, isNew: 'perhaps' },
    { seq: 1, tags: [7] },
    { seq: 1, tags: '[["boat"]]' },
    { seq: 1, tags: '[7]' },
    { seq: 1, at: { days: Array.from({ length: 21 }, () => '7') } },
    'seq 12',
    null,
  ])('refuses the input %j', async (input) => {
    expect(await runWith(input)).toMatchObject({
      isError: true,
      text: expect.stringMatching(/input of tool open is invalid/),
    });
  });

  it('runs no tool that was not offered', async () => {
    await using world = await openWorld();
    let ran = 0;
    const hidden = echo('hidden', async () => {
      ran += 1;
      return 'done';
    });
    const registry = createToolRegistry({ services: world.services, tools: [hidden, echo('open', async () => '')] });
    const result = await registry.run(call('hidden'), await contextOf(world), offered('open'));
    const text = 'There is no tool hidden here. Available: open. Do not call it again; answer without it.';
    expect([ran, result.isError, result.text]).toEqual([0, true, text]);
    expect(world.seen.findLast((event) => event.kind === 'tool.called')).toMatchObject({ tool: null, isError: true });
  });

  it('stops what takes too long and passes its signal', async () => {
    await using world = await openWorld();
    let stopped = false;
    const slow = echo('slow', (_input, { signal }) => {
      signal.addEventListener('abort', () => {
        stopped = true;
      });
      return new Promise(() => {});
    });
    const registry = createToolRegistry({ services: world.services, tools: [slow], timeLimitMs: 30 });
    const result = await registry.run(call('slow'), await contextOf(world), offered('slow'));
    expect(result).toMatchObject({
      isError: true,
      text: expect.stringContaining('did not return within 0.03 seconds'),
    });
    expect(stopped).toBe(true);
  });

  it('gives the check of an input no more time', async () => {
    await using world = await openWorld();
    const input = z.object({ id: z.string().refine(() => new Promise<boolean>(() => undefined)) });
    const tool = defineTool({ name: 'find', description: '', input, run: () => 'Found.' }) as Tool;
    const registry = createToolRegistry({ services: world.services, tools: [tool], timeLimitMs: 30 });
    const result = await registry.run(call('find', { id: '7' }), await contextOf(world), offered('find'));
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining('did not return within') });
  });

  it('makes up no result when the turn itself is ended', async () => {
    await using world = await openWorld();
    const ending = new AbortController();
    const registry = createToolRegistry({
      services: world.services,
      tools: [echo('slow', () => new Promise(() => {}))],
    });
    const running = registry.run(call('slow'), await contextOf(world, { signal: ending.signal }), offered('slow'));
    ending.abort(new Error('the end'));
    await expect(running).rejects.toThrow('the end');
  });

  it('runs nothing for a turn that was ended before', async () => {
    await using world = await openWorld();
    let ran = 0;
    const deaf = echo('deaf', () => {
      ran += 1;
      return new Promise(() => {});
    });
    const registry = createToolRegistry({ services: world.services, tools: [deaf] });
    const context = await contextOf(world, { signal: AbortSignal.abort(new Error('over')) });
    await expect(registry.run(call('deaf'), context, offered('deaf'))).rejects.toThrow('over');
    expect(ran).toBe(0);
  });
});

describe('long results', () => {
  // Shows: A25, Q1
  it('leave head, tail and a reference to the blob store', async () => {
    await using world = await openWorld();
    const long = Array.from({ length: 3000 }, (_, index) => `line ${index}`).join('\n');
    const registry = createToolRegistry({ services: world.services, tools: [echo('long', async () => long)] });
    const context = await contextOf(world);
    const result = await registry.run(call('long'), context, offered('long'));
    expect(result.blob?.sizeBytes).toBe(Buffer.byteLength(long));
    expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(MAX_BYTES);
    expect(result.text.startsWith('line 0\nline 1\n')).toBe(true);
    expect(result.text.endsWith('line 2999')).toBe(true);
    const [, id, from] = /blob_read reads them: id (\S+), from (\d+)/.exec(result.text) ?? [];
    expect(id).toBe(result.blob?.id);
    const range = { conversationId: context.conversationId, from: 0, length: long.length };
    expect((await world.store.blobs.read(id as BlobId, range))?.text).toBe(long);
    expect(result.text.startsWith(long.slice(0, Number(from)))).toBe(true);
  });

  it('leave as much as their agent keeps of them', async () => {
    await using world = await openWorld({ tool_results: { blob_bytes: 2000, recent_bytes: 900 } });
    const tools = [echo('long', async () => 'x'.repeat(5000)), createBlobTool(world.services)];
    const registry = createToolRegistry({ services: world.services, tools });
    const context = await contextOf(world);
    const { text, blob } = await registry.run(call('long'), context, offered('long'));
    expect(text).toMatch(/^x{600}\n\[.*from 600\.\]\nx{300}$/u);
    const page = await registry.run(
      call('blob_read', { id: blob?.id ?? '', from: 600 }),
      context,
      offered('blob_read'),
    );
    expect(page).toMatchObject({ blob: null, text: expect.stringMatching(/^\[characters 600 to 2400 of 5000/u) });
  });

  // Shows: Q10
  it('say so when the store does not take them', async () => {
    await using world = await openWorld();
    const blobs = { ...world.store.blobs, put: () => Promise.reject(new Error('the disk is full')) };
    const services = { ...world.services, store: { ...world.store, blobs } };
    const registry = createToolRegistry({ services, tools: [echo('long', async () => 'x'.repeat(60_000))] });
    const result = await registry.run(call('long'), await contextOf(world), offered('long'));
    expect(result.blob).toBeNull();
    expect(result.text).toContain('could not be kept');
    expect(result.text).not.toContain('blob_read');
    expect(world.seen.some((event) => event.kind === 'error.internal')).toBe(true);
  });

  const id = 'b1' as BlobId;
  // Shows: Q8
  it('stay whole up to the limit exactly', () => {
    expect(offload('x'.repeat(MAX_BYTES), id, sizes)).toBeNull();
    expect(offload('x'.repeat(MAX_BYTES + 1), id, sizes)).not.toBeNull();
    expect(offload('é'.repeat(MAX_BYTES / 2), id, sizes)).toBeNull();
    expect(offload(`${'é'.repeat(MAX_BYTES / 2)}x`, id, sizes)).not.toBeNull();
  });

  // Shows: Q6, T23
  it('keep a reference when one line of 60 kB', () => {
    const text = offload('x'.repeat(60_000), id, sizes)?.stored ?? '';
    expect(text).toContain('id b1, from 4000');
    expect(text).toContain('54000 of 60000 characters');
  });

  // Shows: T22
  it('are shortened with one note even when holding one', () => {
    const note = offload('y'.repeat(20_000), id, sizes)?.stored ?? '';
    const text = offload(note.repeat(9), 'b2' as BlobId, sizes)?.stored ?? '';
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
    expect(text.match(/id b2/g)).toHaveLength(1);
  });

  // Shows: Q10
  it('are cut between characters and within the limit', () => {
    const grapheme = fc.constantFrom('x', 'é', '茶', '🍵', '👩‍🚀', '\n', 'ß');
    fc.assert(
      fc.property(fc.array(grapheme, { minLength: 3000, maxLength: 12_000 }), (characters) => {
        const text = characters.join('');
        const long = offload(text, id, sizes);
        if (long === null) return expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
        expect(long.stored.isWellFormed()).toBe(true);
        expect(Buffer.byteLength(long.stored)).toBeLessThanOrEqual(MAX_BYTES);
        const [head = '', tail = ''] = long.stored.split(/\n\[\d+ of \d+ characters are left out here[^\]]*\]\n/);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(head)).toBeGreaterThan(3_990);
      }),
      { numRuns: 40 },
    );
    expect(headBytes('🍵🍵', 7)).toBe('🍵');
    expect(headBytes('abc', 9)).toBe('abc');
  });
});
