import { createHmac } from 'node:crypto';
import type { ReplyCommand } from '../ports/reply.ts';
import { isSameSecret } from '../util/same-secret.ts';

const SIGNATURE_LENGTH = 8;

/** Signs text that a platform returns to us later, such as the value of a button. */
export interface TokenSigner {
  sign(text: string): string;
  /** Null if it was not signed with the same secret. */
  verify(token: string): string | null;
}

/**
 * Signs with the secret, which only the bot knows.
 *
 * @example
 * const signer = createTokenSigner(process.env['BOT_TOKEN'] ?? '');
 * const value = signer.sign('page 2');
 * signer.verify(value); // page 2
 * signer.verify('page 3.forged'); // null
 */
export function createTokenSigner(secret: string): TokenSigner {
  const signatureOf = (text: string) =>
    createHmac('sha256', secret).update(text).digest('base64url').slice(0, SIGNATURE_LENGTH);
  return {
    sign: (text) => `${text}.${signatureOf(text)}`,
    verify(token) {
      const end = token.lastIndexOf('.');
      const text = token.slice(0, Math.max(0, end));
      return isSameSecret(token.slice(end + 1), signatureOf(text)) ? text : null;
    },
  };
}

/** A command as text that `commandOfText` parses. */
export function textOfCommand({ path, options }: ReplyCommand): string {
  return `${path.join(' ')}?${new URLSearchParams(options)}`;
}

/**
 * Parses a text of `textOfCommand`. Never throws, and does not check whether there is such a command.
 *
 * @example
 * const text = textOfCommand({ path: ['memory', 'list'], options: { page: '2' } }); // memory list?page=2
 * const { path, options } = commandOfText(text);
 */
export function commandOfText(text: string): ReplyCommand {
  const at = text.indexOf('?');
  return { path: text.slice(0, at).split(' '), options: Object.fromEntries(new URLSearchParams(text.slice(at + 1))) };
}
