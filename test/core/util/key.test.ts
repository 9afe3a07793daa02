import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  channelOf,
  childRangeOf,
  depthOf,
  makeChildKey,
  makeKey,
  parseKey,
  placeOf,
  rootOf,
  workspaceOf,
} from '../../../src/domain/key.ts';
import type { ConversationKey } from '../../../src/domain/message.ts';

function isInside(key: ConversationKey, parent: ConversationKey): boolean {
  if (depthOf(parent) === 0) return depthOf(key) > 0 && rootOf(key) === parent;
  return key.startsWith(`${parent}.`);
}

const part = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' });

describe('conversation keys', () => {
  it('parse back into their parts, whatever those hold', () => {
    fc.assert(
      fc.property(part, part, part, fc.option(part), (platform, workspace, channel, thread) => {
        const parsed = parseKey(makeKey({ platform, workspace, channel, thread }));
        expect(parsed).toMatchObject({ platform, workspace, channel, thread });
      }),
    );
  });

  it('share their place between a channel and its threads', () => {
    const channel = { platform: 'slack', workspace: 'T1', channel: 'C:1' };
    expect(placeOf(makeKey({ ...channel, thread: '17.3' }))).toBe(placeOf(makeKey(channel)));
    expect(workspaceOf(makeKey(channel))).toBe('slack:T1');
  });

  it('give a closed thread a place of its own', () => {
    const channel = { platform: 'discord', workspace: '1', channel: '2' };
    const closed = makeKey({ ...channel, thread: '3', isClosed: true });
    expect(parseKey(closed)).toMatchObject({ channel: '2', thread: '3', isClosed: true });
    expect(placeOf(closed)).toBe(closed);
    expect(placeOf(closed)).not.toBe(placeOf(makeKey({ ...channel, thread: '4', isClosed: true })));
    expect(channelOf(closed)).toBe(placeOf(makeKey(channel)));
    const open = makeKey({ ...channel, thread: '~3' });
    expect(parseKey(open)).toMatchObject({ thread: '~3', isClosed: false });
    expect(placeOf(open)).toBe(placeOf(makeKey(channel)));
  });

  it('of a child lead to the conversation that people see', () => {
    for (const thread of [null, '3', '~3']) {
      const parent = makeKey({ platform: 'discord', workspace: '1', channel: '2', thread });
      const closed = makeKey({ platform: 'discord', workspace: '1', channel: '2', thread: '3', isClosed: true });
      for (const root of [parent, closed]) {
        const child = makeChildKey(root, 'a');
        const grandchild = makeChildKey(child, 'b');
        expect([root, child, grandchild].map(depthOf)).toEqual([0, 1, 2]);
        expect([root, child, grandchild].map(rootOf)).toEqual([root, root, root]);
        expect([child, grandchild].map(placeOf)).toEqual([placeOf(root), placeOf(root)]);
        expect([child, grandchild].map(channelOf)).toEqual([channelOf(root), channelOf(root)]);
        expect(() => parseKey(child)).toThrow(/not a conversation key/);
      }
    }
  });

  it('of children make a range without anybody else', () => {
    const channel = makeKey({ platform: 'discord', workspace: '1', channel: '2' });
    const thread = makeKey({ platform: 'discord', workspace: '1', channel: '2', thread: '3' });
    const other = makeKey({ platform: 'discord', workspace: '1', channel: '2', thread: '34' });
    const all = [channel, thread, other].flatMap((root) => {
      const child = makeChildKey(root, 'x');
      return [root, child, makeChildKey(child, 'y'), makeChildKey(makeChildKey(root, 'xa'), 'z')];
    });
    for (const root of [channel, thread, other, makeChildKey(thread, 'x')]) {
      const { from, to } = childRangeOf(root);
      const inside = all.filter((key) => key >= from && key < to);
      expect(inside).toEqual(all.filter((key) => key !== root && isInside(key, root)));
    }
  });

  it.each(['', 'terminal', 'terminal:local', 'a:b:', ':a:b', 'a:b:c:', 'a:b:c:~', 'a:b:c:d:e', 'a:b:c d', 'a:b:c\n'])(
    'refuses %j and shows the form',
    (text) => {
      expect(() => parseKey(text)).toThrow(/platform:workspace:channel/);
    },
  );
});
