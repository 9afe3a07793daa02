import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
/** As recommended by NIST SP 800-38D for random values. */
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface EncryptionKey {
  /** 32 bytes. */
  readonly key: Buffer;
  /** What the text belongs to. It cannot be decrypted for anything else. */
  readonly owner: string;
}

export function encrypt(text: string, { key, owner }: EncryptionKey): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(owner));
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

/** Throws if the text was changed since, or encrypted with another key or for another owner. */
export function decrypt(encrypted: string, { key, owner }: EncryptionKey): string {
  const whole = Buffer.from(encrypted, 'base64url');
  const end = whole.length - TAG_BYTES;
  const decipher = createDecipheriv(ALGORITHM, key, whole.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(owner))
    .setAuthTag(whole.subarray(end));
  return Buffer.concat([decipher.update(whole.subarray(IV_BYTES, end)), decipher.final()]).toString('utf8');
}
