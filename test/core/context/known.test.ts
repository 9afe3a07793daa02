import { describe, expect, it } from 'vitest';
import { recognise, renderInSlices } from '../../../src/context/view/entry-reuse.ts';
import type { Entry } from '../../../src/domain/message.ts';
import { bot, snapshot, user } from '../../fixtures/context.ts';

/** As the store returns it: an equal but different object. */
function readAnew(tail: readonly Entry[]): Entry[] {
  return tail.map((entry) => structuredClone(entry));
}

describe('a view that is read again', () => {
  const tail = [user(3, 'one'), bot(4, 3), user(5, 'two'), user(6, 'three')];

  it('keeps the objects of known entries wherever the tail begins', () => {
    const read = readAnew(tail).slice(1);
    const { tail: seen } = recognise(snapshot([...read, user(7, 'new')]), tail);
    expect(seen.slice(0, 3).every((entry, index) => entry === tail[index + 1])).toBe(true);
    expect(seen.at(-1)).toEqual(user(7, 'new'));
  });

  it.each<[string, Partial<Entry>]>([
    ['edited', { editedAt: 9 }],
    ['deleted', { redactedAt: 9, parts: [] }],
    ['other words', { parts: [{ kind: 'text', text: 'tw0' }] }],
    ['other parts', { parts: [{ kind: 'tool-call', callId: 'c', tool: 't', input: {} }] }],
    ['an answer to another message', { replyTo: 'm1' }],
    ['another name', { author: { id: 'u1', name: 'Adele', kind: 'person' } }],
    ['mentions', { mentions: [{ id: 'u2', name: 'Bob', kind: 'person' }] }],
    ['another turn', { turn: 1 }],
  ])('uses changed entries as they are now: %s', (_, change) => {
    const read = readAnew(tail).map((entry) => (entry.seq === 5 ? { ...entry, ...change } : entry));
    const { tail: seen } = recognise(snapshot(read), tail);
    expect(seen).toEqual(read);
    expect(seen[2]).toBe(read[2]);
    expect(seen[3]).toBe(tail[3]);
  });

  it('is rendered with a pause after every slice', async () => {
    const long = Array.from({ length: 450 }, (_, index) => user(index + 1, 'words'));
    let turns = 0;
    const count = () => {
      turns += 1;
      handle = setImmediate(count);
    };
    let handle = setImmediate(count);
    await renderInSlices(snapshot(long), 'UTC');
    clearImmediate(handle);
    expect(turns).toBeGreaterThanOrEqual(4);
  });
});
