import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { channelOf, makeKey, parseKey, placeOf, workspaceOf } from '../../src/domain/key.ts';

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

  it.each(['', 'terminal', 'terminal:local', 'a:b:', ':a:b', 'a:b:c:', 'a:b:c:~', 'a:b:c:d:e', 'a:b:c d', 'a:b:c\n'])(
    'refuses %j and shows the form',
    (text) => {
      expect(() => parseKey(text)).toThrow(/platform:workspace:channel/);
    },
  );
});
