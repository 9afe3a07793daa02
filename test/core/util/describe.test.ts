import { expect, it } from 'vitest';
import { describe as lineAbout } from '../../../src/domain/errors.ts';

it('takes the reason of a failed fetch from its causes', () => {
  const cause = new Error('self-signed certificate');
  expect(lineAbout(new TypeError('fetch failed', { cause }))).toBe('fetch failed: self-signed certificate');
  const refusal = new Error('Proxy response (407) !== 200 when HTTP Tunneling');
  const cancelled = Object.assign(new DOMException('Request was cancelled.', 'AbortError'), { cause: refusal });
  expect(lineAbout(new TypeError('fetch failed', { cause: cancelled }))).toBe(`fetch failed: ${refusal.message}`);
});

it('names each address that was tried', () => {
  const errors = [new Error('connect ECONNREFUSED ::1:80'), new Error('connect ECONNREFUSED 127.0.0.1:80')];
  const words = 'connect ECONNREFUSED ::1:80, connect ECONNREFUSED 127.0.0.1:80';
  expect(lineAbout(new AggregateError(errors))).toBe(words);
  expect(lineAbout(new AggregateError(errors, 'All failed'))).toBe('All failed');
});

it('ends with errors that contain themselves', () => {
  const failed = new TypeError('fetch failed');
  failed.cause = failed;
  expect(lineAbout(failed)).toMatch(/^fetch failed(?:: fetch failed){1,9}$/u);
  const all = new AggregateError([]);
  all.errors.push(all, all);
  expect(lineAbout(all).length).toBeLessThan(100);
});

it('keeps the lines of a server apart', () => {
  expect(lineAbout(new Error('first line\rsecond line\r\nthird line'))).toBe('first line\nsecond line\nthird line');
});

const thrower = (): never => {
  throw new Error('no');
};

it.each<[string, unknown]>([
  ['an object without methods', Object.create(null)],
  ['a proxy that throws', new Proxy({}, { get: thrower, getPrototypeOf: thrower })],
  ['an error with a message that throws', Object.defineProperty(new Error(), 'message', { get: thrower })],
  ['an error with an object as message', Object.assign(new Error(), { message: Object.create(null) })],
])('says of %s that it has no reason', (_, error) => {
  expect(lineAbout(error)).toBe('an error without a reason');
});
