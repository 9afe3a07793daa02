import { expect, it } from 'vitest';
import { reportUncaught } from '../../../src/app/uncaught.ts';
import { createEvents, type StrataEvent } from '../../../src/ports/events.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';

const plugin = { ownName: 'dice', path: '/bot/dice.ts', shown: './dice.ts' };

function reported(error: unknown): string | undefined {
  const told: StrataEvent[] = [];
  const events = createEvents({ now: () => 0, onListenerError: () => undefined });
  events.on((event) => told.push(event));
  reportUncaught({ kind: 'rejection', error }, { plugins: [plugin], events, log: silentLog });
  return told.flatMap((event) => (event.kind === 'error.internal' ? [event.message] : []))[0];
}

const unreadable = (field: 'stack' | 'message', error = new Error('broken')) =>
  Object.defineProperty(error, field, {
    get() {
      throw new Error(`There is no ${field}.`);
    },
  });

it('reports errors that cannot be read', () => {
  const own = new Error('broken');
  own.stack = 'Error: broken\n    at roll (/bot/dice.ts:7:9)';
  expect(reported(own)).toMatch(/: plugin dice, \.\/dice\.ts:7:9: broken$/);
  expect(reported(unreadable('message', own))).toMatch(/: plugin dice, \.\/dice\.ts:7:9: an error without a reason$/);
  expect(reported(unreadable('stack'))).toMatch(/: source unknown: object$/);
  expect(reported(Object.create(null))).toMatch(/: source unknown: an error without a reason$/);
});
