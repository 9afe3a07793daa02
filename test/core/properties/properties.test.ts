import fc from 'fast-check';
import { describe, it } from 'vitest';
import { SIZED, sized, sizedLimitMs } from '../../support/size.ts';
import { createPlayer, type PlayOptions } from './properties.world.ts';
import { type Step, steps } from './steps.world.ts';

/** A failure names its seed and path: `fc.assert(property, { seed, path })` plays it again. */
async function play(moves: readonly Step[], options?: PlayOptions): Promise<void> {
  await using player = await createPlayer(options);
  for (const move of moves) {
    await player.act(move);
    await player.check();
  }
  await player.finish();
  await player.bury();
}

const RUN = { interruptAfterTimeLimit: sizedLimitMs(60_000), endOnFailure: true };
const LONG = { ...SIZED, timeout: sizedLimitMs(400_000) };

const talk = {
  say: 10,
  burst: 3,
  hold: 2,
  letGo: 2,
  redeliver: 1,
  mood: 3,
  release: 2,
  wait: 2,
  compact: 1,
  status: 1,
};
const ends = { ...talk, restart: 1, crash: 2, platform: 1, repeat: 1 };
const changes = { ...ends, edit: 3, remove: 2, forget: 3, reset: 1, status: 0 };

describe('a whole bot, whatever happens to it', () => {
  // Shows: B15, I2, I7
  it('loses, doubles and hides nothing while its summariser misbehaves', LONG, async () => {
    await fc.assert(
      fc.asyncProperty(steps(talk), (moves) => play(moves)),
      { ...RUN, numRuns: sized({ small: 3, full: 8 }) },
    );
  });

  // Shows: I3, I10
  it('keeps its view whole through edits, forgetting and resets', LONG, async () => {
    await fc.assert(
      fc.asyncProperty(steps(changes), (moves) => play(moves)),
      { ...RUN, numRuns: sized({ small: 3, full: 9 }) },
    );
  });

  // Shows: I8
  it('continues where it was after a stop or crash', LONG, async () => {
    await fc.assert(
      fc.asyncProperty(steps(ends), (moves) => play(moves)),
      { ...RUN, numRuns: sized({ small: 3, full: 6 }) },
    );
  });

  // Shows: I6
  it('stays within the window however the provider counts', LONG, async () => {
    const ratio = fc.constantFrom(0.7, 1.3, 1.7, 2.2);
    await fc.assert(
      fc.asyncProperty(ratio, steps({ say: 10, burst: 2, wait: 1 }), (counted, moves) =>
        play(moves, { ratio: counted }),
      ),
      { ...RUN, numRuns: sized({ small: 2, full: 5 }) },
    );
  });
});
