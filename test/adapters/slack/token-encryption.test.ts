import { describe, expect, test } from 'vitest';
import { openTokenEncryption } from '../../../adapters/channels/slack/install/token-encryption.ts';

const SECRET = 'an installation key of enough length';

describe('the encryption of tokens', () => {
  test('decrypts in any process; ciphertexts always differ', async () => {
    const sealed = (await openTokenEncryption(SECRET)).seal('xoxb-secret', 'T1');
    const encryption = await openTokenEncryption(SECRET);
    expect(sealed).not.toContain('secret');
    expect(encryption.open(sealed, 'T1')).toBe('xoxb-secret');
    expect(encryption.seal('xoxb-secret', 'T1')).not.toBe(sealed);
  });

  test('opens nothing for another workspace, and nothing that was changed', async () => {
    const encryption = await openTokenEncryption(SECRET);
    const sealed = encryption.seal('xoxb-secret', 'T1');
    expect(() => encryption.open(sealed, 'T2')).toThrow('belongs to another workspace');
    const at = sealed.length - 5;
    const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
    expect(() => encryption.open(changed, 'T1')).toThrow('it was changed in the store');
    const [version, keyId] = sealed.split('.');
    expect(() => encryption.open(`${version}.${keyId}.`, 'T1')).toThrow('it was changed in the store');
    expect(() => encryption.open('v2.00000000.AAAA', 'T1')).toThrow('this version does not know');
  });

  test('names the needed key and the given one', async () => {
    const sealed = (await openTokenEncryption(SECRET)).seal('xoxb-secret', 'T1');
    const other = await openTokenEncryption('another installation key of enough length');
    const message =
      /^The token of the workspace T1 cannot be decrypted: .* key ([0-9a-f]{8}), .* key ([0-9a-f]{8})\. Set installation_key/;
    expect(() => other.open(sealed, 'T1')).toThrow(message);
    expect(other.secretFor('x')).not.toBe((await openTokenEncryption(SECRET)).secretFor('x'));
  });
});
