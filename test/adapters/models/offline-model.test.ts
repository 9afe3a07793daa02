import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOfflineModel } from '../../../adapters/models/offline/index.ts';
import type { ModelMessage, ModelPart, ModelRequest, ToolCall, ToolSpec } from '../../../src/adapter-kit.ts';
import { contentFault } from '../../../src/compaction/answer/content-audit.ts';

const model = createOfflineModel();
const open = new AbortController().signal;

async function partsOf(request: ModelRequest, signal: AbortSignal = open): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.stream(request, { signal })) parts.push(part);
  return parts;
}

function textIn(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

function callsIn(parts: readonly ModelPart[]) {
  return parts.flatMap((part) => (part.kind === 'call' ? [{ tool: part.call.tool, input: part.call.input }] : []));
}

interface Said {
  readonly by?: string;
  readonly text: string;
}

interface Scene {
  readonly earlier?: readonly Said[];
  readonly summaries?: readonly string[];
  readonly memories?: readonly string[];
  readonly by?: string;
  readonly ask: string;
  readonly after?: readonly ModelMessage[];
  readonly tools?: readonly ToolSpec[];
}

/** A request in the form in which the context engine renders it. */
function requestOf({
  earlier = [],
  summaries = [],
  memories = [],
  by = 'Ada',
  ask,
  after = [],
  tools = [],
}: Scene): ModelRequest {
  const label = (seq: number, author: string) =>
    `[#${seq} | 2026-11-20 Fri 10:${String(seq).padStart(2, '0')} | ${author}]`;
  const said = earlier.flatMap(({ by: author = 'Ada', text }, index): ModelMessage[] =>
    author === 'bot'
      ? [{ role: 'assistant', text, calls: [] }]
      : [{ role: 'user', content: [{ kind: 'text', text: `${label(index + 1, author)} ${text}` }] }],
  );
  const recalled =
    memories.length === 0
      ? []
      : [
          `[Recalled memories: notes from earlier talk.]\n${memories.map((line, index) => `- [m${index}] 2026-11-01, fact [about Ada]: ${line}`).join('\n')}`,
        ];
  const content = ['[Current time: 2026-11-21 09:30 UTC]', ...recalled, `${label(earlier.length + 1, by)} ${ask}`];
  return {
    purpose: 'reply',
    system: [
      { text: 'You are a friendly assistant who drinks coffee.', cacheBreak: true },
      ...summaries.map((text, index) => ({
        text: `[Summary s${index} of messages #1 to #9. Approximate; newer messages win.]\n${text}`,
        cacheBreak: false,
      })),
    ],
    messages: [...said, { role: 'user', content: content.map((text) => ({ kind: 'text', text })) }, ...after],
    tools,
    maxOutputTokens: 400,
    json: false,
  };
}

async function answer(scene: Scene): Promise<string> {
  return textIn(await partsOf(requestOf(scene)));
}

const rollDice: ToolSpec = {
  name: 'roll_dice',
  description: 'Rolls dice',
  inputSchema: {
    type: 'object',
    properties: { sides: { type: 'integer' }, count: { type: 'integer' } },
    required: ['sides'],
  },
};
const search: ToolSpec = {
  name: 'transcript_search',
  description: 'Searches all messages',
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string' }, limit: { type: 'integer' } },
    required: ['query'],
  },
};
const memorySave: ToolSpec = {
  name: 'memory_save',
  description: 'Saves a statement',
  inputSchema: {
    type: 'object',
    properties: {
      kind: { type: 'string' },
      text: { type: 'string' },
      about: { type: 'string' },
      importance: { type: 'number' },
      sources: { type: 'array', items: { type: 'integer' } },
    },
  },
};
const summarySave: ToolSpec = {
  name: 'summary_save',
  description: 'Saves the summary',
  inputSchema: { type: 'object', properties: { summary: { type: 'string' } }, required: ['summary'] },
};

describe('answers from the view', () => {
  test('a recalled memory answers, and is named as the source', async () => {
    const text = await answer({
      memories: ['Ada prefers tea.', 'Ada lives in Lisbon.'],
      ask: 'What do I like to drink?',
    });
    expect(text).toMatch(/Ada prefers tea\. .*memories/);
    expect(text).not.toContain('Lisbon');
  });

  test('a summary answers, with its source messages', async () => {
    const text = await answer({
      summaries: ['Ada said a lot. Ada works as a nurse. Small talk.'],
      ask: 'What is my job?',
    });
    expect(text).toMatch(/works as a nurse.*summary of messages #1 to #9/);
  });

  test('an earlier message answers, with who said it and when', async () => {
    const earlier = [{ text: 'I prefer tea.' }, { by: 'Grace', text: 'I prefer coffee.' }];
    expect(await answer({ earlier, ask: 'What do I like to drink?' })).toMatch(
      /Ada.*said on 2026-11-20 at 10:01: “I prefer tea\.”/,
    );
    expect(await answer({ earlier, ask: 'What does Grace drink?' })).toMatch(/Grace said.*coffee/);
    expect(await answer({ earlier, by: 'Grace', ask: 'What do I drink?' })).toMatch(/coffee/);
  });

  test('a later statement wins over the one it corrects', async () => {
    const earlier = [{ text: 'The deadline is 3 May.' }, { text: 'The deadline is 9 May.' }];
    expect(await answer({ earlier, ask: 'When is the deadline?' })).toMatch(/said.*“The deadline is 9 May\.”/);
  });

  test('decisions, dates, names and things to avoid are found', async () => {
    const earlier = [
      { text: 'My sister is called Grace.' },
      { text: 'I love pizza.' },
      { text: 'We decided to ship on Friday.' },
      { text: 'I am allergic to peanuts.' },
    ];
    expect(await answer({ earlier, ask: 'What did we decide?' })).toContain('ship on Friday');
    expect(await answer({ earlier, ask: 'When do we ship?' })).toContain('Friday');
    expect(await answer({ earlier, ask: "What is my sister's name?" })).toContain('Grace');
    expect(await answer({ earlier, ask: 'What should I not eat?' })).toContain('peanuts');
    expect(await answer({ earlier, ask: 'What food do I like?' })).toContain('pizza');
  });

  test('makes nothing up, not even from the persona', async () => {
    const earlier = [{ text: 'I love hiking.' }];
    for (const ask of ['Do I like coffee?', 'What is my phone number?', 'Where do I live?']) {
      expect(await answer({ earlier, ask })).toMatch(/nothing about that/);
    }
  });

  test('the bot does not take its own words for knowledge', async () => {
    const earlier = [{ by: 'bot', text: 'You live in Atlantis.' }];
    expect(await answer({ earlier, ask: 'Where do I live?' })).not.toContain('Atlantis');
    const quoted = [{ by: '<you>', text: 'You live in Atlantis.' }];
    expect(await answer({ earlier: quoted, ask: 'Where do I live?' })).not.toContain('Atlantis');
  });

  test('quotes no record of an earlier search', async () => {
    const call = { callId: 'c1', tool: 'transcript_search', input: { query: 'home' } };
    const text = '{"found":1,"messages":[{"message":1,"by":"Ada","text":"I live in Lisbon. It is warm there."}]}';
    const request = requestOf({ ask: 'Where do I live?' });
    const searched: ModelMessage[] = [
      { role: 'assistant', text: '', calls: [call] },
      { role: 'tool', results: [{ callId: 'c1', tool: 'transcript_search', text, isError: false }] },
    ];
    const said = textIn(await partsOf({ ...request, messages: [...searched, ...request.messages] }));
    expect(said).not.toContain('{');
    expect(said).not.toContain('"');
  });

  test('it knows the name that somebody gave themself', async () => {
    const earlier = [{ by: 'root', text: 'My name is Ada.' }];
    expect(await answer({ earlier, by: 'root', ask: "What's my name?" })).toBe('You are Ada.');
    expect(await answer({ by: 'root', memories: ["root's name is Ada."], ask: 'Who am I?' })).toBe('You are Ada.');
  });

  test('takes no empty label for a name', async () => {
    const ask = 'Who am I?';
    expect(await answer({ by: 'user', ask })).not.toContain('You are user');
    expect(await answer({ by: 'user', memories: ["The user's name is Ada."], ask })).toBe('You are Ada.');
    expect(
      await answer({ by: 'user', earlier: [{ by: 'user', text: 'I live in Lisbon.' }], ask: 'Where do I live?' }),
    ).toMatch(/^You said/);
  });

  test('likes do not answer what somebody should avoid', async () => {
    const earlier = [{ text: 'I love soup with carrots.' }];
    expect(await answer({ earlier, ask: 'What should I not eat?' })).not.toContain('soup');
  });

  test('it lists what it knows about the asker', async () => {
    const scene = {
      memories: ['Ada prefers tea.'],
      earlier: [{ text: 'I live in Lisbon.' }],
      ask: 'What do you know about me?',
    };
    expect(await answer(scene)).toMatch(/- Ada prefers tea\.\n- Ada lives in Lisbon\./);
  });

  test('tells the time from the given clock', async () => {
    expect(await answer({ ask: 'What time is it?' })).toContain('2026-11-21 09:30');
  });
});

describe('talks', () => {
  test.each([
    ['My name is Ada and I prefer tea.', /Nice to meet you, Ada\..*you prefer tea/],
    ["I'm working as a nurse at my uncle's clinic.", /you.*nurse at your uncle's clinic/],
    ['We decided to ship on Friday.', /decided/],
    ['Remind me to call Grace tomorrow.', /call Grace tomorrow/],
    ['Can you remind me to buy milk?', /buy milk/],
    ['Always answer in one sentence.', /always answer in one sentence/],
    ['The wifi password is swordfish42.', /swordfish42/],
    ['Ich heiße Ada und ich trinke am liebsten Tee.', /Freut mich, Ada\..*Tee/],
    ['Ich heiße Jörg und wohne in Köln.', /Freut mich, Jörg\..*Köln/],
    ["I'm Ada and live in Turin.", /Nice to meet you, Ada\..*Turin/],
    ['我叫小明，我喜欢喝绿茶。', /小明.*绿茶/],
  ])('says back what it understood of "%s"', async (ask, expected) => {
    expect(await answer({ ask })).toMatch(expected);
  });

  test.each([
    ['hi'],
    ['thanks a lot!'],
    ['bye'],
    ['who are you?'],
    ['help'],
    ['ok'],
    ['🙂'],
    ['Hallo!'],
    ['你好'],
    ['How are you?'],
  ])('answers "%s" without search or quote', async (ask) => {
    const parts = await partsOf(requestOf({ ask, tools: [search] }));
    expect(callsIn(parts)).toEqual([]);
    expect(textIn(parts)).toMatch(/\S/);
    expect(textIn(parts)).not.toContain('nothing about that');
  });

  test('acknowledgements vary with what was said', async () => {
    const said = ['I like tea.', 'I like jam.', 'I like rain.', 'I like chess.', 'I like snow.', 'I like sand.'];
    const openings = await Promise.all(said.map(async (ask) => (await answer({ ask })).split(/you/)[0]));
    expect(new Set(openings).size).toBeGreaterThan(1);
  });

  test('German and Chinese questions are answered in their language', async () => {
    const earlier = [{ text: 'Ich wohne in Berlin.' }, { text: '我住在上海。' }];
    expect(await answer({ earlier, ask: 'Wo wohne ich?' })).toMatch(/Du hast.*Berlin/);
    expect(await answer({ earlier, ask: '我住在哪里？' })).toMatch(/你.*上海/);
  });

  test('a view in another form is read as plain text', async () => {
    const request = requestOf({ ask: 'hello' });
    const messages: ModelMessage[] = [
      { role: 'user', content: [{ kind: 'text', text: 'I prefer tea.' }] },
      { role: 'assistant', text: 'Fine.', calls: [] },
      { role: 'user', content: [{ kind: 'text', text: 'What do I drink?' }] },
    ];
    expect(textIn(await partsOf({ ...request, messages }))).toContain('I prefer tea.');
  });
});

describe('tools', () => {
  test.each([
    ['roll a d6', { sides: 6, count: 1 }],
    ['please roll 2d20', { sides: 20, count: 2 }],
    ['use roll_dice with 12 sides', { sides: 12 }],
  ])('"%s" calls the tool that is named so', async (ask, input) => {
    const parts = await partsOf(requestOf({ ask, tools: [search, rollDice] }));
    expect(callsIn(parts)).toEqual([{ tool: 'roll_dice', input }]);
    expect(parts.at(-1)).toMatchObject({ kind: 'finish', reason: 'tool-calls' });
  });

  test('builds input by the schema, from numbers to lists', async () => {
    const tool: ToolSpec = {
      name: 'book_table',
      description: 'Books a table',
      inputSchema: {
        type: 'object',
        properties: {
          restaurant: { type: 'string' },
          guests: { type: 'integer' },
          room: { type: 'string', enum: ['inside', 'terrace'] },
          outdoors: { type: 'boolean' },
          tags: { type: 'array', items: { type: 'string' } },
        },
        required: ['restaurant', 'guests', 'room', 'outdoors', 'tags'],
      },
    };
    const parts = await partsOf(
      requestOf({ ask: 'book a table at "Chez Ada" for four on the terrace', tools: [tool] }),
    );
    expect(callsIn(parts)[0]?.input).toMatchObject({
      restaurant: 'Chez Ada',
      guests: 4,
      room: 'terrace',
      outdoors: false,
    });
  });

  test('"search the transcript for X" searches for X', async () => {
    const parts = await partsOf(requestOf({ ask: 'Search the transcript for swordfish.', tools: [search] }));
    expect(callsIn(parts)).toEqual([{ tool: 'transcript_search', input: { query: 'swordfish' } }]);
  });

  test('searches before it gives up on a question', async () => {
    const ask = 'Where did I park the car?';
    expect(callsIn(await partsOf(requestOf({ ask, tools: [search] })))).toMatchObject([{ tool: 'transcript_search' }]);
  });

  test('"remember that" saves a statement about who said it', async () => {
    const parts = await partsOf(requestOf({ ask: 'Remember that my locker number is 42.', tools: [memorySave] }));
    expect(callsIn(parts)).toMatchObject([
      { tool: 'memory_save', input: { kind: 'fact', text: "Ada's locker number is 42.", about: 'Ada' } },
    ]);
  });

  test('calls no tool for a statement about its topic', async () => {
    expect(callsIn(await partsOf(requestOf({ ask: 'My dice are made of wood.', tools: [rollDice] })))).toEqual([]);
  });

  function afterCall(tool: string, text: string, isError = false): readonly ModelMessage[] {
    return [
      { role: 'assistant', text: '', calls: [{ callId: tool, tool, input: { query: 'x', text: 'Ada is here.' } }] },
      { role: 'tool', results: [{ callId: tool, tool, text, isError }] },
    ];
  }

  test('asks tool_help for the schema, then calls it', async () => {
    const inputSchema = { type: 'object', properties: { tool: { type: 'string', enum: ['roll_dice'] } } };
    const help: ToolSpec = { name: 'tool_help', description: 'Describes a tool', inputSchema };
    const bare: ToolSpec = { ...rollDice, description: 'See tool_help.', inputSchema: { type: 'object' } };
    for (const tools of [[bare, help], [help]]) {
      const asked = callsIn(await partsOf(requestOf({ ask: 'roll a d6', tools })));
      expect(asked).toEqual([{ tool: 'tool_help', input: { tool: 'roll_dice' } }]);
      const after = afterCall('tool_help', JSON.stringify(rollDice));
      const called = callsIn(await partsOf(requestOf({ ask: 'roll a d6', tools, after })));
      expect(called).toEqual([{ tool: 'roll_dice', input: { sides: 6, count: 1 } }]);
      expect(
        await answer({ ask: 'roll a d6', tools, after: [...after, ...afterCall('roll_dice', '{"total":4}')] }),
      ).toMatch(/total: 4/);
    }
  });

  test('asks tool_help once, even if its answer is shortened', async () => {
    const inputSchema = { type: 'object', properties: { tool: { type: 'string', enum: ['roll_dice'] } } };
    const help: ToolSpec = { name: 'tool_help', description: 'Describes a tool', inputSchema };
    const call: ToolCall = { callId: 'c', tool: 'tool_help', input: { tool: 'roll_dice' } };
    const cut = JSON.stringify(rollDice).replace(/.{20}$/u, '[... 20 characters left out ...]');
    const after: ModelMessage[] = [
      { role: 'assistant', text: '', calls: [call] },
      { role: 'tool', results: [{ callId: 'c', tool: 'tool_help', text: cut, isError: false }] },
    ];
    const known = callsIn(await partsOf(requestOf({ ask: 'roll a d6', tools: [help, rollDice], after })));
    expect(known).toEqual([{ tool: 'roll_dice', input: { sides: 6, count: 1 } }]);
    const unknown = callsIn(await partsOf(requestOf({ ask: 'roll a d6', tools: [help], after })));
    expect(unknown.map(({ tool }) => tool)).toEqual(['roll_dice']);
  });

  test('reports a result or error without calling again', async () => {
    const tools = [rollDice];
    const told = await partsOf(requestOf({ ask: 'roll a d6', tools, after: afterCall('roll_dice', '{"total":4}') }));
    expect(callsIn(told)).toEqual([]);
    expect(textIn(told)).toMatch(/total: 4/);
    expect(await answer({ ask: 'roll a d6', tools, after: afterCall('roll_dice', 'no dice left', true) })).toMatch(
      /did not work: no dice left/,
    );
  });

  test.each([
    [
      'labelled lines',
      '[#3 | 2026-11-01 Sun 08:00 | Ada] I parked the car in Main Street.\n[#9 | 2026-11-20 10:00 | Ada] Where did I park the car?',
    ],
    ['JSON', '{"results":[{"seq":3,"author":"Ada","text":"I parked the car in Main Street."}]}'],
    [
      'entries of the built-in tool',
      '{"found":2,"messages":[{"message":3,"by":"Ada","at":"2026-11-01T08:00:00.000Z","text":"I parked the car in Main Street."},{"message":4,"by":"you","at":"2026-11-01T08:00:05.000Z","text":"The car is in Elm Street."}]}',
    ],
    ['plain lines', '- I parked the car in Main Street.'],
  ])('a search result is read as %s', async (_, result) => {
    const text = await answer({
      ask: 'Where did I park the car?',
      tools: [search],
      after: afterCall('transcript_search', result),
    });
    expect(text).toMatch(/Main Street/);
    expect(text).not.toContain('Elm Street');
  });

  test('a statement that was not saved is not called saved', async () => {
    const after = afterCall('memory_save', '{"saved":false,"reason":"it is known already"}');
    expect(await answer({ ask: 'Remember that I am here.', tools: [memorySave], after })).toMatch(
      /not save that: it is known already/,
    );
  });

  test('a search that found nothing is admitted', async () => {
    const results = [
      '[]',
      '{"found":0,"messages":[]}',
      '{"found":1,"messages":[{"by":"<tool>","text":"Elm Street."}]}',
    ];
    for (const result of results) {
      const after = afterCall('transcript_search', result);
      const scene = { ask: 'Where did I park the car? It is late.', tools: [search], after };
      const text = await answer(scene);
      expect(text).not.toMatch(/found"|Elm/);
      expect(await answer({ ...scene, ask: 'Where did I park the car?' })).toMatch(/found nothing/);
    }
  });
});

const conversation = [
  '[#1 | 2026-11-20 10:00 | root] hi there',
  '[#2 | 2026-11-20 10:00 | <assistant>] Hello, good to see you.',
  '[#3 | 2026-11-20 10:01 | root] My name is Ada and I prefer tea.',
  '[#4 | 2026-11-20 10:01 | <assistant>] Nice to meet you, Ada. I live in a computer.',
  '[#5 | 2026-11-20 10:02 | Grace] I hate mondays, but I love cycling. The release is planned for 3 December and costs 4500 euros.',
  '[#6 | 2026-11-20 10:03 | root | reply to #5] We decided to ship on Friday because the customer waits.',
  '  Also, remind me to call Grace tomorrow.',
  '[#9 | 2026-11-20 10:05 | <tools>] (roll_dice gave: 4)',
  '[#10 | 2026-11-20 10:06 | root] I live in Lisbon. Please always answer in one sentence.',
  '[#11 | 2026-11-20 10:06 | Deploy <bot>] I love green builds.',
  '[#12 | 2026-11-20 10:07 | Grace] ok thanks!',
].join('\n');

function maintenance(
  purpose: ModelRequest['purpose'],
  options: Partial<ModelRequest> & { text?: string } = {},
): ModelRequest {
  const { text = `<transcript-abc>\n${conversation}\n</transcript-abc>`, ...rest } = options;
  return {
    purpose,
    system: [{ text: 'You keep the long-term record of a chat.', cacheBreak: false }],
    messages: [{ role: 'user', content: [{ kind: 'text', text }] }],
    tools: [summarySave, memorySave],
    maxOutputTokens: 400,
    json: false,
    ...rest,
  };
}

interface Saved {
  readonly kind: string;
  readonly text: string;
  readonly about?: string;
  readonly sources: readonly number[];
}

function savedIn(parts: readonly ModelPart[]): readonly Saved[] {
  return callsIn(parts).flatMap(({ tool, input }) => (tool === 'memory_save' ? [input as unknown as Saved] : []));
}

function summaryIn(parts: readonly ModelPart[]): string {
  const call = callsIn(parts).find(({ tool }) => tool === 'summary_save');
  return (call?.input as { summary?: string } | undefined)?.summary ?? '';
}

describe('maintenance', () => {
  // Shows: S18
  test('a summary keeps decisions, names and numbers, and is shorter', async () => {
    const summary = summaryIn(await partsOf(maintenance('compact')));
    expect(summary).toMatch(/decided to ship on Friday \(2026-11-27\) because the customer waits/);
    expect(summary).toMatch(/Ada lives in Lisbon/);
    expect(summary).not.toMatch(/hi there|good to see you|ok thanks/);
    expect(summary.length).toBeLessThan(conversation.length * 0.6);
  });

  test('memories are statements of people, each with its lines', async () => {
    const saved = savedIn(await partsOf(maintenance('compact')));
    expect(saved).toContainEqual({
      kind: 'identity',
      text: "root's name is Ada.",
      about: 'root',
      importance: 0.9,
      sources: [3],
    });
    expect(saved).toContainEqual({
      kind: 'preference',
      text: 'Ada prefers tea.',
      about: 'root',
      importance: 0.7,
      sources: [3],
    });
    const texts = saved.map(({ text }) => text);
    expect(texts).toContain('Grace loves cycling.');
    expect(texts).toContain('Ada wants to be reminded to call Grace on 2026-11-21.');
    expect(texts).toContain('Always answer in one sentence.');
    expect(texts.join(' ')).not.toMatch(/computer|green builds/);
  });

  test('extraction alone saves memories and no summary', async () => {
    const parts = await partsOf(maintenance('extract', { tools: [memorySave] }));
    expect(savedIn(parts).length).toBeGreaterThan(4);
    expect(summaryIn(parts)).toBe('');
  });

  test('small talk gives one sentence and no memory', async () => {
    const text = '[#1 | 2026-11-20 10:00 | Ada] hi\n[#2 | 2026-11-20 10:00 | <assistant>] Hello!';
    const parts = await partsOf(maintenance('compact', { text }));
    expect(savedIn(parts)).toEqual([]);
    expect(summaryIn(parts)).toBe('Small talk with Ada.');
    expect(textIn(await partsOf(maintenance('extract', { text, tools: [memorySave] })))).toBe('NOTHING');
  });

  test('names what a person said, even if known or long', async () => {
    const head = '[#7 | 2026-03-02 Mon 09:08 | Weiß]';
    const known = 'Ich habe die Rähmchen ausgeschmolzen und das Wachs in den Keller gestellt.';
    const long = 'Der Chor hat gestern den zweiten Satz durchgesungen, die Tenöre waren dabei etwas zu laut.';
    const reply = '[#8 | 2026-03-02 Mon 09:08 | <assistant>] Interesting. Tell me more if you like.';
    for (const said of [known, long, `${known} ${long}`]) {
      const transcript = `<transcript-abc>\n${head} ${said}\n${reply}\n</transcript-abc>`;
      const text = `Earlier summaries:\n<earlier-abc>\n[#1 to #6] Lütfi: ${known}\n</earlier-abc>\n\n${transcript}`;
      const summary = summaryIn(await partsOf(maintenance('compact', { text })));
      expect(contentFault(summary, `${said} Interesting. Tell me more if you like.`)).toBeNull();
      expect(summary).toMatch(/^Weiß: /u);
    }
  });

  test('dates the days of German sentences in German', async () => {
    const said =
      'Heute war das Bienenhaus in Mayen offen. Der Chor probt übermorgen in Bonn, Olga kommt morgen nach Köln.';
    const text = `<transcript-abc>\n[#7 | 2026-03-02 Mon 09:08 | Weiß] ${said}\n</transcript-abc>`;
    const summary = summaryIn(await partsOf(maintenance('compact', { text })));
    expect(summary).not.toMatch(/\bon 2026|[Hh]eute|morgen/u);
    expect(summary).toMatch(/: Am 2026-03-02 war|probt am 2026-03-04/u);
  });

  test('after its calls were taken it ends', async () => {
    const request = maintenance('compact');
    const taken: ModelMessage[] = [
      { role: 'assistant', text: '', calls: [{ callId: 'c1', tool: 'summary_save', input: { summary: 'x' } }] },
      { role: 'tool', results: [{ callId: 'c1', tool: 'summary_save', text: 'Taken.', isError: false }] },
    ];
    const parts = await partsOf({ ...request, messages: [...request.messages, ...taken] });
    expect(callsIn(parts)).toEqual([]);
    expect(parts.at(-1)).toMatchObject({ kind: 'finish', reason: 'stop' });
  });

  test('without tools it is one JSON object', async () => {
    const text =
      '[#3 | 2026-11-20 10:01 | Ada] I prefer tea. The weather was lovely all day long in the old town by the river.';
    const parts = await partsOf(maintenance('compact', { text, tools: [], json: true }));
    expect(JSON.parse(textIn(parts))).toMatchObject({
      summary: expect.stringContaining('Ada prefers tea.'),
      memories: [{ kind: 'preference', text: 'Ada prefers tea.', about: 'Ada', sources: [3] }],
    });
  });

  test('past tenses stay as they are', async () => {
    const text =
      '[#3 | 2026-11-20 10:01 | Mei] My garage is empty since I sold the car. It holds twenty people when it rains.';
    const saved = savedIn(await partsOf(maintenance('compact', { text })));
    expect(saved.map((memory) => memory.text)).toContain("Mei's garage is empty since Mei sold the car.");
  });

  test('known facts are not saved again', async () => {
    const known = '<known-abc>\n- [m1] Ada prefers tea.\n</known-abc>\n';
    const saved = savedIn(await partsOf(maintenance('compact', { text: `${known}${conversation}` })));
    expect(saved.map(({ text }) => text)).not.toContain('Ada prefers tea.');
  });

  test('a name from earlier talk is used in later summaries', async () => {
    const known = "<known-abc>\n- [m1] root's name is Ada.\n</known-abc>\n";
    const text = `${known}[#40 | 2026-11-20 10:00 | root] I live in Lisbon. The weather was fine all day long, and we walked.`;
    expect(summaryIn(await partsOf(maintenance('compact', { text })))).toContain('Ada lives in Lisbon.');
    const stranger = '[#40 | 2026-11-20 10:00 | user] I live in Lisbon.';
    expect(savedIn(await partsOf(maintenance('extract', { text: stranger, tools: [memorySave] })))).toMatchObject([
      { text: 'The user lives in Lisbon.', about: 'user' },
    ]);
  });

  test('a second try is shorter', async () => {
    const first = summaryIn(await partsOf(maintenance('compact')));
    const system = [
      { text: 'Your first answer could not be used: it was not shorter than its source.', cacheBreak: false },
    ];
    expect(summaryIn(await partsOf(maintenance('compact', { system }))).length).toBeLessThan(first.length);
  });

  test('condensing keeps the facts of several summaries in less room', async () => {
    const text = [
      '<transcript-x>',
      '[#1 to #14] Ada prefers tea. Ada asked: How was the day of everybody in the team yesterday? Small talk with Ada.',
      '[#15 to #30] It was decided to ship on Friday (2026-11-27). The bot said: build done. Ada lives in Lisbon.',
      '</transcript-x>',
    ].join('\n');
    const condensed = textIn(await partsOf(maintenance('condense', { text, tools: [] })));
    expect(condensed).toMatch(/prefers tea/);
    expect(condensed).toMatch(/ship on Friday/);
    expect(condensed).toMatch(/Lisbon/);
    expect(condensed).not.toMatch(/Small talk|build done|#1/);
    expect(condensed.length).toBeLessThan(text.length * 0.7);
  });

  test.each([
    ['I live in Lisbon now', 'fact', 'Ada lives in Lisbon now.'],
    ["I'm allergic to peanuts!", 'fact', 'Ada is allergic to peanuts.'],
    ['My favourite colour is green.', 'preference', "Ada's favourite colour is green."],
    ["I don't like my neighbour's dog.", 'preference', "Ada does not like Ada's neighbour's dog."],
    ['I work as a nurse.', 'fact', 'Ada works as a nurse.'],
    ['My birthday is on 3 May', 'fact', "Ada's birthday is 3 May."],
    ['I need to buy milk today.', 'todo', 'Ada needs to buy milk on 2026-11-20.'],
    ['I am a vegetarian.', 'fact', 'Ada is a vegetarian.'],
    ['We agreed on blue.', 'decision', 'It was agreed on blue.'],
    ['The meeting is on 4 December.', 'event', 'The meeting is on 4 December.'],
    [
      'I went to a support group yesterday and it was great.',
      'event',
      'Ada went to a support group on 2026-11-19 and it was great.',
    ],
    ['I ran a race last Friday.', 'event', 'Ada ran a race last Friday (2026-11-13).'],
    ['I ran a race last Tuesday.', 'event', 'Ada ran a race last Tuesday (2026-11-17).'],
    ['We agreed to meet next Monday.', 'decision', 'It was agreed to meet next Monday (2026-11-23).'],
    ['I play the clarinet.', 'fact', 'Ada plays the clarinet.'],
    ['Never call me before noon.', 'instruction', 'Never call me before noon.'],
    ['From now on answer in French.', 'instruction', 'From now on answer in French.'],
    ['Ich heiße Grete.', 'identity', 'Ada heißt Grete.'],
    ['Ich heiße Grete und komme spät.', 'identity', 'Ada heißt Grete.'],
    ['Ich mag keinen Kaffee.', 'preference', 'Ada mag kein Kaffee.'],
    ['Ich wohne in Köln.', 'fact', 'Ada wohnt in Köln.'],
    ['Wir haben beschlossen, morgen zu liefern.', 'decision', 'Es wurde beschlossen: am 2026-11-21 zu liefern.'],
    ['我叫小明。', 'identity', 'Ada的名字是小明。'],
    ['我不喜欢咖啡。', 'preference', 'Ada不喜欢咖啡。'],
    ['我住在上海，天气很好。', 'fact', 'Ada住在上海。'],
  ])('"%s" is a %s', async (said, kind, text) => {
    const line = `[#7 | 2026-11-20 10:00 | Ada] ${said}`;
    const saved = savedIn(await partsOf(maintenance('extract', { text: line, tools: [memorySave] })));
    expect(saved).toMatchObject([{ kind, text, sources: [7] }]);
  });

  test.each([
    ['Do you like tea?'],
    ['I think it is fine.'],
    ['I have a question.'],
    ['I love it!'],
    ['I love how you sing.'],
    ["I'll keep you posted."],
    ['Volunteering is a great way to meet people.'],
    ['My day was so awesome.'],
    ['ich bin immer müde'],
    ['Never mind.'],
    ["I'm a bit tired."],
    ['lol ok'],
    ['> I hate tea'],
    ['```\nI love this code\n```'],
  ])('"%s" is nothing to remember', async (said) => {
    const text = `[#7 | 2026-11-20 10:00 | Ada] ${said.replaceAll('\n', '\n    ')}`;
    expect(savedIn(await partsOf(maintenance('extract', { text, tools: [memorySave] })))).toEqual([]);
  });
});

describe('behaves like a model', () => {
  test('it streams in several pieces and reports what it used', async () => {
    const parts = await partsOf(requestOf({ ask: 'help' }));
    expect(parts.filter(({ kind }) => kind === 'text').length).toBeGreaterThan(3);
    const end = parts.at(-1);
    expect(end).toMatchObject({ kind: 'finish', reason: 'stop' });
    if (end?.kind !== 'finish') throw new Error('no finish');
    expect(end.usage.inputTokens).toBeGreaterThan(20);
    expect(end.usage.outputTokens).toBeGreaterThan(20);
  });

  test('a request beyond the window is refused with the window', async () => {
    const request = requestOf({ earlier: [{ text: 'word '.repeat(2000) }], ask: 'hi' });
    await expect(partsOf(request)).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      reason: 'overflow',
      windowTokens: 2000,
    });
  });

  test('answers respect their limit', async () => {
    const parts = await partsOf({ ...requestOf({ ask: 'help' }), maxOutputTokens: 10 });
    expect(parts.at(-1)).toMatchObject({ kind: 'finish', reason: 'length' });
    expect(textIn(parts).length).toBeLessThan(50);
  });

  test('an ended signal ends it', async () => {
    await expect(partsOf(requestOf({ ask: 'hi' }), AbortSignal.abort())).rejects.toMatchObject({ reason: 'aborted' });
    const late = AbortSignal.abort(new DOMException('late', 'TimeoutError'));
    await expect(partsOf(requestOf({ ask: 'hi' }), late)).rejects.toMatchObject({ reason: 'timeout' });
  });

  test('gives the same parts and one finish each time', async () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        'I prefer tea.',
        'What do I drink?',
        'roll a d6',
        'We decided on blue.',
        '我喜欢喝茶。',
        '[#3 | x',
        '[Summary s1 of messages #1 to #2] x',
      ),
    );
    const scene = fc.record({
      earlier: fc.array(fc.record({ text, by: fc.constantFrom('Ada', 'Grace', 'bot') }), { maxLength: 6 }),
      ask: text,
      memories: fc.array(text, { maxLength: 3 }),
      summaries: fc.array(text, { maxLength: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(scene, async (drawn) => {
        const request = requestOf({ ...drawn, tools: [rollDice, search, memorySave] });
        const first = await partsOf(request);
        expect(await partsOf(structuredClone(request))).toEqual(first);
        expect(first.filter(({ kind }) => kind === 'finish')).toHaveLength(1);
        expect(first.at(-1)?.kind).toBe('finish');
        expect(textIn(first) !== '' || callsIn(first).length > 0).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test('summarises any transcript shorter, citing only its lines', async () => {
    const line = fc.tuple(
      fc.constantFrom('Ada', 'Grace', '<assistant>', '<tools>'),
      fc.oneof(
        fc.lorem({ maxCount: 12 }),
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.constantFrom('I prefer tea.', 'We decided to go.', '我叫小明。', 'My name is Bob'),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 4, maxLength: 20 }), async (said) => {
        const text = said
          .map(
            ([author, words], index) => `[#${index + 1} | 2026-11-20 10:00 | ${author}] ${words.replace(/\s+/g, ' ')}`,
          )
          .join('\n');
        const parts = await partsOf(maintenance('compact', { text }));
        expect(summaryIn(parts).length).toBeLessThan(text.length);
        expect(summaryIn(parts)).toMatch(/\S/);
        for (const { sources } of savedIn(parts)) {
          for (const source of sources) expect(said[source - 1]?.[0]).toMatch(/Ada|Grace/);
        }
      }),
      { numRuns: 100 },
    );
  });
});
