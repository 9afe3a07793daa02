import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ended, type Folder, jsonLines, openFolder } from './strata.ts';

const KEY = 'demo:files:chat';
const HERE = ['--conversation', KEY] as const;

interface Line {
  readonly id: string;
  readonly author: string;
  readonly text: string;
  readonly at: string;
  readonly role?: string;
}

function lines(count: number): readonly Line[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `m${index + 1}`,
    author: index % 2 === 0 ? 'Ada' : 'Bo',
    text: `Message ${index + 1}: on day ${index + 1} we walked ${index + 5} km and slept in hut ${index * 3}.`,
    at: new Date(Date.UTC(2025, 4, 1, 8, index)).toISOString(),
  }));
}

function write(folder: Folder, name: string, rows: readonly unknown[]): void {
  writeFileSync(folder.file(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

async function transcriptOf(folder: Folder) {
  const { stdout } = await folder.run(['transcript', ...HERE, '--json']);
  return jsonLines<{
    readonly seq: number;
    readonly id: string;
    readonly role: string;
    readonly author: unknown;
    readonly at: string;
  }>(stdout);
}

describe('import', () => {
  test('appends once, with ids, authors, times and roles', async () => {
    using folder = openFolder();
    write(folder, 'chat.jsonl', [...lines(5), { id: 6, author: 'Helper', text: 'Noted.', role: 'assistant' }]);
    const first = await folder.run(['import', 'chat.jsonl', ...HERE]);
    expect(first).toEqual({ code: 0, stdout: '', stderr: `Imported 6 messages into ${KEY}.\n` });
    const second = await folder.run(['import', 'chat.jsonl', ...HERE]);
    expect(second.stderr).toBe(`Imported 0 messages into ${KEY}. 6 were already stored.\n`);
    write(folder, 'more.jsonl', [...lines(1), { id: 7, author: 'Ada', text: 'One more.' }]);
    const third = await folder.run(['import', 'more.jsonl', ...HERE]);
    expect(third.stderr).toBe(`Imported 1 message into ${KEY}. 1 was already stored.\n`);
    const entries = await transcriptOf(folder);
    expect(entries.map((entry) => entry.id)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5', '6', '7']);
    expect(entries[0]).toMatchObject({
      role: 'user',
      author: { id: 'Ada', name: 'Ada', kind: 'person' },
      at: '2025-05-01T08:00:00.000Z',
    });
    expect(entries[5]).toMatchObject({ role: 'assistant', author: { id: 'Helper', name: 'Helper', kind: 'bot' } });
  });

  test.each([
    ['no JSON', '{"id": "m3", oops}', /chat\.jsonl:3: the line is not JSON\./],
    [
      'a field that is missing',
      '{"id": "m3", "text": "hi"}',
      /chat\.jsonl:3: author: expected a text of 1 to 200 characters\./,
    ],
    [
      'a role that does not exist',
      '{"id": "m3", "author": "A", "text": "hi", "role": "system"}',
      /chat\.jsonl:3: role: expected user or assistant\./,
    ],
    [
      'a time that is none',
      '{"id": "m3", "author": "A", "text": "hi", "at": "yesterday"}',
      /chat\.jsonl:3: at: expected a time such as/,
    ],
    [
      'a time that no calendar has',
      '{"id": "m3", "author": "A", "text": "hi", "at": 8640000000000001}',
      /chat\.jsonl:3: at: expected a time such as/,
    ],
    ['a list', '[]', /chat\.jsonl:3: expected an object\./],
    ['an empty author', '{"id": 3, "author": "", "text": "hi"}', /author: expected a text of 1 to 200 characters\./],
    ['an id that is none', '{"id": "", "author": "A", "text": "hi"}', /id: expected a text of 1 to .* number\./],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), /chat\.jsonl:3: the line is not valid UTF-8\./],
    [
      'a line of 10 MB',
      JSON.stringify({ id: 'm3', author: 'A', text: 'x'.repeat(10_000_000) }),
      /chat\.jsonl:3: the line is 10\.0 MB long/,
    ],
  ])('stops at %s and continues once it is fixed', async (_name, bad, says) => {
    using folder = openFolder();
    const [one, two, three, four] = lines(4).map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(
      folder.file('chat.jsonl'),
      Buffer.concat([Buffer.from(`${one}${two}`), Buffer.from(bad), Buffer.from(`\n${four}`)]),
    );
    const broken = await folder.run(['import', 'chat.jsonl', ...HERE]);
    expect(broken).toMatchObject({ code: 1, stdout: '' });
    expect(broken.stderr).toMatch(says);
    expect(broken.stderr.trim().split('\n')).toHaveLength(1);
    writeFileSync(folder.file('chat.jsonl'), `${one}${two}${three}${four}`);
    expect((await folder.run(['import', 'chat.jsonl', ...HERE])).stderr).toContain('Imported 2 messages');
    expect((await transcriptOf(folder)).map((entry) => entry.id)).toEqual(['m1', 'm2', 'm3', 'm4']);
  });
});

describe('replay', () => {
  test('prints the timeline of tiers, compactions, stack and memories', async () => {
    using folder = openFolder();
    write(folder, 'trip.jsonl', lines(60));
    const { code, stdout, stderr } = await folder.run(['replay', 'trip.jsonl', ...HERE, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rows = jsonLines<{
      readonly event: string;
      readonly stack: readonly unknown[];
      readonly tier: string;
      readonly entries: number;
    }>(stdout);
    expect(rows.filter((row) => row.event === 'maintenance.ended').length).toBeGreaterThanOrEqual(2);
    expect(rows.some((row) => row.event === 'context.tier')).toBe(true);
    expect(rows.at(-1)).toMatchObject({
      event: 'end',
      entries: 60,
      memories: expect.any(Number),
      tier: expect.any(String),
    });
    expect(rows.at(-1)?.stack.length).toBeGreaterThanOrEqual(1);
    const entries = await transcriptOf(folder);
    expect(entries.every((entry) => entry.role === 'user')).toBe(true);
    const again = await folder.run(['replay', 'trip.jsonl', ...HERE]);
    expect(again.stderr).toBe('60 messages were already stored.\n');
  }, 120_000);

  test('continues where it was killed: each message once, in order', async () => {
    using folder = openFolder();
    write(folder, 'trip.jsonl', lines(60));
    const stored: number[] = [];
    for (const waitMs of [0, 100]) {
      const child = folder.start(['replay', 'trip.jsonl', ...HERE]);
      child.stdin.end();
      await once(child.stdout, 'data');
      await delay(waitMs);
      child.kill('SIGKILL');
      await once(child, 'close');
      stored.push((await transcriptOf(folder)).length);
    }
    const [first = 0, second = 0] = stored;
    expect(first).toBeGreaterThan(0);
    expect(second).toBeGreaterThanOrEqual(first);
    expect(first).toBeLessThan(60);
    const last = await folder.run(['replay', 'trip.jsonl', ...HERE]);
    expect(last.code).toBe(0);
    const entries = await transcriptOf(folder);
    expect(entries.map((entry) => entry.id)).toEqual(lines(60).map((line) => line.id));
    const [context] = jsonLines<{
      readonly stack: readonly { readonly fromSeq: number; readonly toSeq: number }[];
      readonly tail: { readonly fromSeq: number; readonly toSeq: number };
    }>((await folder.run(['context', ...HERE, '--json'])).stdout);
    let next = 1;
    for (const layer of [...(context?.stack ?? []), ...(context ? [context.tail] : [])]) {
      expect(layer.fromSeq).toBe(next);
      next = layer.toSeq + 1;
    }
    expect(next).toBe(61);
  }, 120_000);

  test('answers with --reply, in a conversation named after the file', async () => {
    using folder = openFolder();
    write(folder, 'short.messages.jsonl', lines(3));
    expect((await folder.run(['replay', 'short.messages.jsonl', '--reply'])).code).toBe(0);
    const { stdout } = await folder.run(['transcript', '--conversation', 'replay:local:short', '--json']);
    const roles = jsonLines<{ readonly role: string }>(stdout).map((entry) => entry.role);
    expect(roles.filter((role) => role === 'assistant').length).toBe(3);
    expect(roles.filter((role) => role === 'user').length).toBe(3);
  });

  test('ends cleanly on SIGINT, and can be resumed', async () => {
    using folder = openFolder();
    write(folder, 'trip.jsonl', lines(200));
    const child = folder.start(['replay', 'trip.jsonl', ...HERE]);
    const end = ended(child, '');
    await once(child.stdout, 'data');
    child.kill('SIGINT');
    expect(await end).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Stopped before the end of the file/m) });
    const stored = (await transcriptOf(folder)).length;
    expect(stored).toBeGreaterThan(0);
    expect(stored).toBeLessThan(200);
  }, 120_000);
});
