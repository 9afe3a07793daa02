import { describe, expect, it } from 'vitest';
import type { Drop } from '../../../src/adapter-kit.ts';
import { logEvent } from '../../../src/bot/event-log.ts';
import { recordLog } from '../../fixtures/channel-kit.ts';

const drop: Drop = {
  platform: 'discord',
  reason: 'own',
  event: 'MESSAGE_CREATE',
  channel: '300',
  externalId: '400',
  problem: null,
};

describe('what is not kept', () => {
  it.each([
    ['own', 'debug'],
    ['malformed', 'warn'],
  ] as const)('is logged with its reason: %s at %s', (reason, level) => {
    const log = recordLog();
    logEvent(log, { kind: 'message.dropped', conversation: null, at: 0, ...drop, reason });
    expect(log.lines).toEqual([{ level, message: 'message.dropped', fields: { ...drop, reason } }]);
  });
});

it('a refused request is logged as a warning', () => {
  const log = recordLog();
  const refused = { model: 'test:chat', leftOut: 'messages', refusals: 1 } as const;
  logEvent(log, { kind: 'context.refused', conversation: null, at: 0, ...refused });
  expect(log.lines).toMatchObject([{ level: 'warn', fields: refused }]);
});

describe('a fixed part that is too long', () => {
  it.each([
    ['tools', 'info'],
    ['tools, policy', 'warn'],
  ])('warns if a text of the operator is cut: %s', (parts, level) => {
    const log = recordLog();
    const cut = { agent: 'main', parts, wholeTokens: 9, leftTokens: 5 };
    logEvent(log, { kind: 'context.cut', conversation: null, at: 0, ...cut });
    expect(log.lines).toMatchObject([{ level, fields: cut }]);
  });
});

describe('a changed configuration', () => {
  it.each([
    ['', 'info'],
    ['agents (added or removed)', 'warn'],
  ])('says what waits for a restart: %s', (waitsForRestart, level) => {
    const log = recordLog();
    logEvent(log, { kind: 'config.changed', conversation: null, at: 0, file: 'config.toml', waitsForRestart });
    expect(log.lines).toMatchObject([{ level, fields: { waitsForRestart } }]);
  });
});

describe('a finished turn', () => {
  it.each([
    [null, 'debug'],
    ['length', 'warn'],
  ] as const)('warns if its answer was cut: %s', (cut, level) => {
    const log = recordLog();
    logEvent(log, { kind: 'turn.ended', conversation: null, at: 0, readUpto: 1, steps: 1, durationMs: 5, cut });
    expect(log.lines).toMatchObject([{ level, fields: { cut } }]);
  });
});
