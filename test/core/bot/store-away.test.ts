import { expect, test } from 'vitest';
import { type Storage, StrataError } from '../../../src/adapter-kit.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

test('names a store that is away once a minute', async () => {
  const away = { reason: '' };
  const refuse = async (): Promise<void> => {
    if (away.reason !== '') throw new StrataError('STORE_UNREACHABLE', { path: 'db', reason: away.reason });
  };
  const storage = (own: Storage): Storage => {
    const { conversations, outbox } = own.store;
    const due: typeof conversations.due = async (...given) => {
      await refuse();
      return await conversations.due(...given);
    };
    const take: typeof outbox.take = async (...given) => {
      await refuse();
      return await outbox.take(...given);
    };
    return {
      ...own,
      store: { ...own.store, conversations: { ...conversations, due }, outbox: { ...outbox, take } },
    };
  };
  await using world = await createBotWorld({ models: [scriptedModel(() => ({ text: 'Yes.' }))], storage });
  const named = (reason: string) =>
    world.events.filter((event) => event.kind === 'error.internal' && event.message.includes(reason)).length;
  away.reason = 'refused';
  await world.clock.advance(5 * MINUTE_MS);
  // From the gateway and from the worker.
  expect(named('refused')).toBeGreaterThanOrEqual(2);
  expect(named('refused')).toBeLessThanOrEqual(12);
  away.reason = 'starting up';
  await world.clock.advance(MINUTE_MS / 4);
  expect(named('starting up')).toBeGreaterThanOrEqual(2);
  away.reason = '';
});
