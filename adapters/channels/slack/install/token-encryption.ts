import { createHmac, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { StrataError } from '../../../../src/adapter-kit.ts';
import { decrypt, encrypt } from '../../shared/encryption.ts';

/** Encrypts the tokens of workspaces: what the store contains is readable only with the key. */
export interface TokenEncryption {
  seal(text: string, teamId: string): string;
  /** Throws `SECRET_UNREADABLE` if it was encrypted with another key or for another workspace, or was changed since. */
  open(sealed: string, teamId: string): string;
  /** The same for all gateways, and secret. */
  secretFor(purpose: string): string;
}

const VERSION = 'v1';
const KEY_BYTES = 32;

/** The same secret gives the same key in every gateway; the salt only separates it from other uses. */
const SALT = 'strata slack installations';
const COST = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

const derive = promisify<string, string, number, typeof COST, Buffer>(scrypt);

export async function openTokenEncryption(secret: string): Promise<TokenEncryption> {
  const master = await derive(secret, SALT, KEY_BYTES, COST);
  const subkey = (purpose: string) => createHmac('sha256', master).update(purpose).digest();
  const key = subkey('tokens');
  const keyId = subkey('id').toString('hex').slice(0, 8);
  return {
    seal(text, teamId) {
      return [VERSION, keyId, encrypt(text, { key, owner: teamId })].join('.');
    },
    open(sealed, teamId) {
      const [version, sealedBy = '', whole = ''] = sealed.split('.');
      if (version !== VERSION) throw unreadable(teamId, 'this version does not know its format');
      if (sealedBy !== keyId) {
        throw unreadable(teamId, `it was encrypted with the key ${sealedBy}, but installation_key is the key ${keyId}`);
      }
      try {
        return decrypt(whole, { key, owner: teamId });
      } catch {
        throw unreadable(teamId, 'it was changed in the store, or belongs to another workspace');
      }
    },
    secretFor: (purpose) => subkey(`secret ${purpose}`).toString('hex'),
  };
}

function unreadable(teamId: string, reason: string): StrataError {
  const what = `The token of the workspace ${teamId}`;
  const remedy = 'Set installation_key to the earlier value, or reinstall the app there';
  return new StrataError('SECRET_UNREADABLE', { what, reason, remedy });
}
