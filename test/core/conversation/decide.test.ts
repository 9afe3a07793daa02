import { describe, expect, it } from 'vitest';
import { createBotGuard } from '../../../src/conversation/inbound/bot-guard.ts';
import { decide } from '../../../src/conversation/inbound/decide.ts';
import type { Audience, Author } from '../../../src/domain/message.ts';

const ada: Author = { id: 'u1', name: 'Ada', kind: 'person' };
const robot: Author = { id: 'b1', name: 'Robot', kind: 'bot' };
const always = () => true;

describe('the decision to answer', () => {
  it.each<[string, 'mention' | 'active' | 'observe', Audience, boolean, boolean]>([
    ['a person in a DM', 'mention', 'dm', false, true],
    ['a person who addresses the bot', 'mention', 'public', true, true],
    ['talk between people', 'mention', 'public', false, false],
    ['talk in an active channel', 'active', 'public', false, true],
    ['a mention in an observed channel', 'observe', 'public', true, false],
    ['a DM of an agent that only observes', 'observe', 'dm', true, false],
  ])('%s (%s, %s)', (_name, mode, audience, addressesBot, reply) => {
    const decision = decide({ author: ada, audience, addressesBot }, { mode, allow_bots: false }, always);
    expect(decision.reply).toBe(reply);
  });

  it('keeps old messages without answering, direct ones too', () => {
    const message = { author: ada, audience: 'dm' as const, addressesBot: true, isPast: true };
    expect(decide(message, { mode: 'active', allow_bots: false }, always)).toEqual({ reply: false, reason: 'past' });
  });

  // Shows: C5
  it('ignores bots unless they are allowed and address the bot', () => {
    const message = { author: robot, audience: 'dm' as const, addressesBot: true };
    expect(decide(message, { mode: 'active', allow_bots: false }, always)).toEqual({ reply: false, reason: 'bot' });
    expect(decide(message, { mode: 'active', allow_bots: true }, always)).toEqual({ reply: true });
    const aside = { ...message, addressesBot: false };
    expect(decide(aside, { mode: 'active', allow_bots: true }, always)).toEqual({ reply: false, reason: 'bot' });
  });
});

describe('the guard against bots that feed each other', () => {
  // Shows: E
  it('falls silent for a minute after twenty triggers within one', () => {
    const guard = createBotGuard();
    const answers = Array.from({ length: 25 }, (_, index) => guard.allows('a|b', index * 1000));
    expect(answers.filter(Boolean)).toHaveLength(20);
    expect(guard.allows('a|b', 79_000)).toBe(false);
    expect(guard.allows('a|b', 80_001)).toBe(true);
  });

  it('allows a slow exchange and counts each pair apart', () => {
    const guard = createBotGuard();
    for (let index = 0; index < 100; index += 1) expect(guard.allows('a|b', index * 4000)).toBe(true);
    expect(guard.allows('c|d', 400_000)).toBe(true);
  });

  it('stays silent however many others talk meanwhile', () => {
    const guard = createBotGuard();
    const now = 1_000_000;
    for (let index = 0; index <= 20; index += 1) guard.allows('a|b', now);
    for (let index = 0; index < 1000; index += 1) guard.allows(`c|${index}`, now);
    expect(guard.allows('a|b', now + 1000)).toBe(false);
  });
});
