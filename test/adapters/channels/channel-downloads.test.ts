import { describe, expect, it } from 'vitest';
import { decodeText, hasTextEnding, isTrusted, readAtMost } from '../../../adapters/channels/shared/downloads.ts';

describe('downloads of channels', () => {
  it.each([
    ['https://files.example/a.txt', true],
    ['http://files.example/a.txt', false],
    ['https://files.example:8443/a.txt', false],
    ['https://files.example.evil.test/a.txt', false],
    ['https://files.example@evil.test/a.txt', false],
    ['http://127.0.0.1:4000/a.txt', true],
    ['http://127.0.0.1:4001/a.txt', false],
    ['not an address', false],
  ])('decide whether %s is trusted', (address, expected) => {
    expect(isTrusted(address, { own: ['files.example'], extra: '127.0.0.1:4000' })).toBe(expected);
  });

  it('trust no other server without one', () => {
    expect(isTrusted('file:///etc/passwd', { own: ['files.example'], extra: '' })).toBe(false);
  });

  it('end at the maximum size', async () => {
    const body = () => new Blob(['12345678']).stream();
    expect((await readAtMost(body(), 8))?.toString()).toBe('12345678');
    expect(await readAtMost(body(), 7)).toBeNull();
  });

  it.each(['notes.md', 'NOTES.MD', 'main.go', 'a.tsx', 'index.mjs', 'page.htm', 'c.YAML', 'x.patch'])(
    'count %s as text',
    (name) => {
      expect([hasTextEnding(name), hasTextEnding(`${name}.exe`)]).toEqual([true, false]);
    },
  );

  it('decode only text', () => {
    expect(decodeText(Buffer.from(' Tea. '))).toBe('Tea.');
    expect(decodeText(Buffer.from('\ufeffOne\u001b[31m\u202e two'))).toBe('One two');
    expect(decodeText(Buffer.from([0x61, 0]))).toBeNull();
    expect(decodeText(Buffer.from([0xff, 0xfe]))).toBeNull();
  });
});
