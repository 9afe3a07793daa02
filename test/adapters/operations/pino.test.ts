import { expect, test } from 'vitest';
import { z } from 'zod';
import { createPinoLog, type PinoLogOptions } from '../../../adapters/logs/pino/index.ts';
import { logEvent } from '../../../src/bot/event-log.ts';

function capture(options: Omit<PinoLogOptions, 'output'>) {
  const lines: string[] = [];
  return { lines, log: createPinoLog({ ...options, output: { write: (line) => lines.push(line) } }) };
}

const jsonLine = z.looseObject({ level: z.string(), message: z.string(), time: z.string() });

test('writes JSON lines with level, time, message and fields', () => {
  const { lines, log } = capture({ level: 'info' });
  log.warn('compaction delayed', { conversation: 'terminal:local:main', failures: 2, reason: null });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.endsWith('\n')).toBe(true);
  const parsed = jsonLine.parse(JSON.parse(lines[0] ?? ''));
  expect(parsed).toMatchObject({ level: 'warn', message: 'compaction delayed', failures: 2, reason: null });
  expect(Number.isNaN(Date.parse(parsed.time))).toBe(false);
});

test('writes nothing below the level, and nothing when silent', () => {
  const { lines, log } = capture({ level: 'warn' });
  log.debug('a');
  log.info('b');
  log.error('c');
  expect(lines.map((line) => jsonLine.parse(JSON.parse(line)).message)).toEqual(['c']);
  const silent = capture({ level: 'silent' });
  silent.log.error('d');
  expect(silent.lines).toEqual([]);
});

test('redacts secrets by value in messages, fields and text', () => {
  const secrets = ['sk-abcdef123456', 'quo"te\\secret', 'sk-abcdef123456-longer', 'p@ss/word'];
  for (const readable of [false, true]) {
    const { lines, log } = capture({ level: 'debug', secrets, readable });
    log.error('refused: Bearer sk-abcdef123456-longer', {
      url: 'https://x/?key=sk-abcdef123456&p=p%40ss%2Fword',
      other: 'quo"te\\secret',
    });
    const line = lines.join('');
    for (const secret of ['sk-abcdef', 'longer', 'te\\\\secret', 'p%40ss']) expect(line).not.toContain(secret);
    expect(line.match(/\*\*\*/g)).toHaveLength(4);
  }
});

test('a readable line is short, without control characters', () => {
  const { lines, log } = capture({ level: 'debug', readable: true });
  log.info('model called', { model: 'offline:demo', durationMs: 12, note: 'two words\n\u001b[31mred' });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d info {2}model called model=offline:demo durationMs=12 note="two words \[31mred"\n$/,
  );
});

test('a terminal gets readable lines, anything else JSON', () => {
  const lines: string[] = [];
  createPinoLog({ level: 'info', output: { write: (line) => lines.push(line), isTTY: true } }).info('hello');
  createPinoLog({ level: 'info', output: { write: (line) => lines.push(line), isTTY: false } }).info('hello');
  expect(lines[0]).toContain('hello\n');
  expect(lines[0]).not.toContain('{');
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ message: 'hello' });
});

test('no key appears twice, whatever the fields are', () => {
  const { lines, log } = capture({ level: 'info' });
  log.error('failed', { message: 'the disk is full', level: 3, time: 'noon' });
  expect(lines[0]?.match(/"(?:message|level|time)":/g)).toHaveLength(3);
  const parsed = JSON.parse(lines[0] ?? '');
  expect(parsed).toMatchObject({ message: 'failed', message_: 'the disk is full', level: 'error', level_: 3 });
});

test('an event names its cause, and its conversation if any', () => {
  for (const readable of [false, true]) {
    const { lines, log } = capture({ level: 'info', readable });
    logEvent(log, { kind: 'error.internal', at: 0, conversation: null, message: 'the disk is full' });
    const line = lines.join('');
    if (!readable) expect(JSON.parse(line)).toMatchObject({ message: 'error.internal', cause: 'the disk is full' });
    else expect(line).toMatch(/ error error\.internal cause="the disk is full"\n$/);
    expect(line).not.toContain('conversation');
  }
});
