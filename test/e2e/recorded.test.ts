import { existsSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { parseKey, type Summary } from '../../src/adapter-kit.ts';
import {
  type RecordedModel,
  type Recording,
  readRecording,
  recordedFolder,
  startRecordedModel,
} from '../fixtures/recorded-model.ts';
import { SIZED, spread } from '../support/size.ts';
import { type Folder, openFolder } from './strata.ts';

const key = 'test:locomo:recorded';

const contextSchema = z.looseObject({
  entries: z.int(),
  contextFrom: z.int(),
  compactedUpto: z.int(),
  stack: z.array(
    z.looseObject({
      id: z.string(),
      kind: z.string(),
      level: z.int(),
      fromSeq: z.int(),
      toSeq: z.int(),
      tokens: z.int(),
    }),
  ),
  tail: z.object({ fromSeq: z.int(), toSeq: z.int(), tokens: z.int() }),
  used: z.number(),
  window: z.int(),
  tier: z.string(),
});
const memorySchema = z.looseObject({
  kind: z.string(),
  text: z.string(),
  audience: z.string(),
  sources: z.array(z.object({ conversation: z.string(), seq: z.int(), id: z.string().nullable() })),
});
const openedSchema = z.looseObject({ messages: z.array(z.looseObject({ id: z.string() })) });

// The recordings may not be part of the repository.
describe.skipIf(!existsSync(recordedFolder)).each(spread(['conv-0', 'conv-1'], 1))(
  'the recorded conversation %s, replayed',
  SIZED,
  (name) => {
    let folder: Folder;
    let recording: Recording;
    let model: RecordedModel;

    const strata = async (...words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await folder.run(words);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    };
    const json = async (...words: readonly string[]): Promise<unknown> =>
      JSON.parse(await strata(...words, '--conversation', key, '--json'));

    /** The summaries of messages below the stack, oldest first. */
    const freshLayers = async (): Promise<readonly Summary[]> => {
      const { store } = await createSqliteStorage({ directory: folder.file('data') });
      const beneath = async (layer: Summary): Promise<readonly Summary[]> =>
        layer.level === 0
          ? [layer]
          : (await Promise.all((await store.summaries.children(layer.id)).map(beneath))).flat();
      const conversation = await store.conversations.find(parseKey(key).key);
      const stack = await store.summaries.live(conversation?.id ?? 0);
      const fresh = (await Promise.all(stack.map(beneath))).flat();
      await store.close();
      return fresh;
    };

    beforeAll(async () => {
      folder = openFolder();
      recording = await readRecording(name);
      model = await startRecordedModel(recording);
      writeFileSync(
        folder.file('config.toml'),
        `[defaults]\nmodel = "scripted:m"\ncontext_window = 6000\n[providers.scripted]\nbase_url = "${model.url}"\n`,
      );
      await strata('replay', recording.file, '--conversation', key, '--json');
    }, 240_000);

    afterAll(async () => {
      await model.close();
      folder[Symbol.dispose]();
    });

    it('keeps every message once, in order, under its own id', async () => {
      const lines = (await strata('transcript', '--conversation', key, '--json')).trim().split('\n');
      const ids = lines.map((line) => z.looseObject({ id: z.string(), seq: z.int() }).parse(JSON.parse(line)).id);
      expect(ids).toEqual(recording.messageIds);
    });

    it('covers the conversation by stack and tail without a hole', async () => {
      const context = contextSchema.parse(await json('context'));
      expect(context.entries).toBe(recording.messageIds.length);
      const first = context.stack.map((layer) => layer.fromSeq);
      const next = context.stack.map((layer) => layer.toSeq + 1);
      expect([...first, context.tail.fromSeq]).toEqual([context.contextFrom, ...next]);
      expect(context.compactedUpto).toBe(context.tail.fromSeq - 1);
      expect(context.tail.toSeq).toBe(context.entries);
      expect(context.stack.every((layer) => layer.kind === 'summary')).toBe(true);
      expect(context.stack.length).toBeGreaterThanOrEqual(2);
      expect(context.stack.some((layer) => layer.level > 0)).toBe(true);
      expect(context.used).toBeLessThan(context.window);
      expect(model.condensed).toBeGreaterThan(0);
    });

    it('summarises each message once, in the recorded model’s words', {
      timeout: 360_000,
    }, async () => {
      const covered = model.summarised.toSorted((a, b) => a.fromSeq - b.fromSeq);
      const seams = covered.slice(1).map((range, index) => range.fromSeq - (covered[index]?.toSeq ?? 0));
      expect(seams.every((seam) => seam === 1)).toBe(true);
      const written = recording.messageIds.map((_, index) => recording.summaryOf(recording.sessionOf(index + 1)));
      const fresh = await freshLayers();
      expect(fresh.length).toBe(covered.length);
      for (const { text } of fresh) expect(written.join('\n')).toContain(text.split('\n')[0]);
    });

    it('opens a layer down to its messages', async () => {
      const [oldest] = await freshLayers();
      const opened = openedSchema.parse(await json('summaries', 'open', oldest?.id ?? ''));
      expect(opened.messages.map((message) => message.id)).toEqual(recording.messageIds.slice(0, oldest?.toSeq));
    });

    it('keeps recorded facts as memories with their recorded sources', async () => {
      const memories = z.array(memorySchema).parse(await json('memory', 'list'));
      const recorded = new Map(recording.facts.map((fact) => [fact.text, fact]));
      expect(memories.length).toBeGreaterThan(recording.facts.length / 4);
      for (const memory of memories) {
        const fact = recorded.get(memory.text);
        expect(fact, memory.text).toBeDefined();
        expect(memory.sources.length).toBeGreaterThan(0);
        for (const source of memory.sources) expect(recording.messageIds[source.seq - 1]).toBe(source.id);
      }
      const exact = memories.filter((memory) =>
        memory.sources.every(({ id }) => recorded.get(memory.text)?.evidence.includes(id ?? '')),
      );
      // A fact that is said again gains the later evidence too.
      expect(exact.length / memories.length).toBeGreaterThan(0.8);
    });

    it('changes nothing when it is replayed again', async () => {
      const before = await json('context');
      await strata('replay', recording.file, '--conversation', key, '--json');
      expect(await json('context')).toEqual(before);
    });
  },
);
