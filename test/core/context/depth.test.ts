import { expect, it } from 'vitest';
import { planCompaction, planEmergency } from '../../../src/context/cuts/depth.ts';
import { isDue } from '../../../src/context/cuts/due.ts';
import { bot, conversation, profile, snapshot, user } from '../../fixtures/context.ts';
import { createWorld, filler } from '../compaction/compaction.world.ts';

/** Answered messages, each of a hundred tokens. */
const tail = Array.from({ length: 80 }, (_, index) =>
  index % 2 === 0 ? user(index + 1, 'word', { tokens: 100 }) : { ...bot(index + 1, index), tokens: 100 },
);
const view = snapshot(tail);
const quiet = conversation();
const plain = profile({ windowTokens: 10_000 });
const background = { tier: 'background', usedTokens: 8000, correction: 1 } as const;

function compacted(fields: Parameters<typeof profile>[0], usedTokens = 8000): number {
  return (
    planCompaction(view, quiet, { profile: { ...plain, ...fields }, pressure: { ...background, usedTokens } })
      ?.tokens ?? 0
  );
}

it('takes what brings the view down to its target', () => {
  expect(compacted({})).toBe(2400);
  const targets = { background: 0.45, aggressive: null, emergency: null };
  expect(compacted({ targets })).toBe(5000);
  expect(
    planCompaction(view, quiet, { profile: { ...plain, targets }, pressure: { ...background, tier: 'aggressive' } }),
  ).toMatchObject({ tokens: 4000 });
});

it('goes deeper than a target that is too near', () => {
  const targets = { background: 0.79, aggressive: null, emergency: null };
  expect(compacted({ targets })).toBe(1200);
});

it('removes at once what the emergency target asks for', () => {
  const pressure = { usedTokens: 9500, correction: 1 };
  const cut = (emergency: number | null) =>
    planEmergency(view, quiet, { ...pressure, profile: { ...plain, targets: { ...plain.targets, emergency } } })
      ?.tokens;
  expect(cut(null)).toBe(4000);
  expect(cut(0.2)).toBe(7600);
});

it('keeps the newest messages that the tail’s share covers', () => {
  const targets = { background: 0.01, aggressive: 0.01, emergency: 0.01 };
  const left = (tailShare: number) => 8000 - compacted({ targets, tailShare });
  expect(left(0)).toBe(200);
  // The labels of people's messages take the rest.
  expect(left(0.3)).toBe(2800);
  const pressure = { usedTokens: 9500, correction: 1, profile: { ...plain, targets, tailShare: 0.3 } };
  expect(planEmergency(view, quiet, pressure)?.tokens).toBe(5200);
});

// Shows: P10
it('is due at a number of messages, however short', () => {
  expect(isDue(plain, view, 0)).toBe(false);
  expect(isDue({ ...plain, messageThreshold: 81 }, view, 0)).toBe(false);
  expect(isDue({ ...plain, messageThreshold: 80 }, view, 0)).toBe(true);
});

it('counts messages that were not read among the oldest', () => {
  const unread = { ...view, omitted: { entries: 40, tokens: 4000 } };
  const many = { ...plain, messageThreshold: 80 };
  const cut = planCompaction(unread, quiet, { profile: many, pressure: { ...background, usedTokens: 0 } });
  expect(cut?.tokens).toBe(4000);
});

it('summarises the oldest messages once they are many', async () => {
  await using world = await createWorld({ window: 100_000, agent: { compaction: { message_threshold: 20 } } });
  for (let turn = 0; turn < 9; turn += 1) await world.exchange(filler(30, turn), filler(30, turn + 1));
  expect(await world.run()).toMatchObject({ changed: false });
  await world.exchange(filler(30), filler(30));
  expect(await world.run()).toEqual({ changed: true, reason: 'summarised #1 to #6' });
  expect((await world.snapshot()).stack).toMatchObject([{ kind: 'summary', fromSeq: 1, toSeq: 6 }]);
  expect(await world.run()).toMatchObject({ changed: false });
});
