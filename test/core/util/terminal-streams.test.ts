import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { terminalStreams } from '../../../src/util/terminal-streams.ts';

test.each([
  [{ TERM: 'xterm-256color' }, true, { isTTY: true, color: true }],
  [{ TERM: 'xterm-256color', NO_COLOR: '1' }, true, { isTTY: true, color: false }],
  [{ TERM: 'dumb' }, true, { isTTY: false, color: false }],
  [{ TERM: 'xterm-256color' }, false, { isTTY: false, color: false }],
])('the environment %j with a terminal: %j', (env, isTTY, expected) => {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stdout = Object.assign(new PassThrough(), { isTTY, hasColors: () => true });
  expect(terminalStreams({ stdin, stdout, stderr: new PassThrough(), env })).toMatchObject(expected);
});
