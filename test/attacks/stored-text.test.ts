import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cleanAuthor, cleanParts } from '../../src/conversation/state/clean-parts.ts';
import { entriesOf } from '../../src/conversation/turn/turn-entries.ts';
import { defineTool } from '../../src/index.ts';
import { tidyReply } from '../../src/util/text/text.ts';
import { scriptedModel } from '../core/compaction/compaction.world.ts';
import { createBotWorld } from '../support/bot-world.ts';

const NOISE = 'a\u0000b\u202Ec\u2066d\u0085e\u001B[31mf\u007F';
const HIDDEN = /[\p{Cc}--[\n\t]]|[\u202A-\u202E\u2066-\u2069]|\\u00/v;

describe('stored text', () => {
  it('holds no control character or direction override', async () => {
    const model = scriptedModel(() => ({ text: NOISE }), { id: 'test:chat' });
    await using world = await createBotWorld({ models: [model] });
    const author = { id: 'u7', name: NOISE, kind: 'person' } as const;
    await world.say(NOISE, { id: 'x1', author });
    await world.settled();
    const parts = [{ kind: 'text', text: `edited ${NOISE}` }] as const;
    await world.bot.sink.edited({ conversation: world.key, externalId: 'x1', parts, at: 1 });
    const stored = (await world.entries()).map(({ author: by, parts: said }) => [by?.name, said]);
    expect(stored).toHaveLength(2);
    expect(JSON.stringify(stored)).not.toMatch(HIDDEN);
    expect(JSON.stringify(stored)).toContain('edited abcd');
  });

  it('holds none of a tool result or file name either', () => {
    const result = { kind: 'tool-result', callId: 'c', tool: 'web', text: NOISE, isError: false, blob: null } as const;
    const file = { kind: 'attachment', name: NOISE, mediaType: 'a/b', sizeBytes: 1, reference: 'https://x' } as const;
    const text = JSON.stringify([cleanParts([result, file]), cleanAuthor({ id: 'u', name: NOISE, kind: 'person' })]);
    expect(text).not.toMatch(HIDDEN);
    expect(JSON.stringify(entriesOf([], { role: 'assistant', text: NOISE }, 1))).not.toMatch(HIDDEN);
  });

  it('holds none of what a model gives a tool', async () => {
    const input = { [NOISE]: [NOISE, { deep: NOISE, count: 1, none: null }] };
    let asked = 0;
    const model = scriptedModel(() => {
      asked += 1;
      return asked > 1 ? { text: 'Done.' } : { text: '', calls: [{ callId: 'c', tool: 'write', input }] };
    });
    const given: unknown[] = [];
    const run = (what: unknown) => void given.push(what);
    const write = defineTool({ name: 'write', description: 'Writes.', input: z.looseObject({}), run });
    await using world = await createBotWorld({ models: [model], tools: [write], agent: { tools: ['write'] } });
    await world.say('Write it.');
    await world.settled();
    expect(given).toEqual([input]);
    const stored = (await world.entries()).flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'tool-call'));
    expect(stored).toMatchObject([{ input: { abcdef: ['abcdef', { deep: 'abcdef', count: 1, none: null }] } }]);
    expect(JSON.stringify(model.requests[1]?.messages)).not.toMatch(HIDDEN);
  });

  it('keeps emoji, accents and both directions of writing', () => {
    const text = '👩‍👩‍👧 naïve שלום می‌خواهم\n\tdone';
    expect(cleanParts([{ kind: 'text', text }])).toEqual([{ kind: 'text', text }]);
  });
});

describe('posted text', () => {
  it('holds none of it', () => expect(tidyReply(NOISE)).not.toMatch(HIDDEN));
});
