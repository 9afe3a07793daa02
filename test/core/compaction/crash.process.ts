import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { createWorld, faithful, filler, scriptedModel, testClock } from './compaction.world.ts';

/**
 * A process that talks, summarises, fills a gap, condenses and extracts, and kills itself without warning at the n-th
 * event. Nothing runs after that: no handler, no closing of the store.
 */
const [directory = '', killAt = '0'] = process.argv.slice(2);
const world = await createWorld({
  directory,
  clock: testClock(),
  model: scriptedModel(faithful, { window: 4000 }),
  agent: { compaction: { stack_share: 0.05, idle_minutes: 5 } },
});
let count = 0;
world.services.events.on(() => {
  count += 1;
  if (count === Number(killAt)) process.kill(process.pid, 'SIGKILL');
});
for (let index = 1; index <= 16; index += 1) {
  await world.exchange(`FACT Item ${index} is blue. ${filler(50, index)}`, `Answer ${index}: ${filler(50, index + 3)}`);
  if (index === 4) await world.emergency(4);
}
await world.run();
await world.clock.advance(10 * MINUTE_MS);
await world.run();
await world[Symbol.asyncDispose]();
process.stdout.write(`${count}\n`);
