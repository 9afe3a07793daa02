import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ReplyCommand } from '../ports/reply.ts';

const SIGNATURE_LENGTH = 8;

/** Signs text that a platform returns to us later, such as the value of a button. */
export interface Seal {
  close(text: string): string;
  /** Null if it was not signed with the same secret. */
  open(sealed: string): string | null;
}
/**
 * @example
 * const signer = createTokenSigner(process.env['BOT_TOKEN'] ?? '');
 * const value = signer.close('page 2');
 * signer.open(value); // page 2
 * signer.open('page 3.forged'); // null
 */
export function createTokenSigner(secret: string): Seal {
  const sign = (text: string) =>
    createHmac('sha256', secret).update(text).digest('base64url').slice(0, SIGNATURE_LENGTH);
  return {
    close: (text) => `${text}.${sign(text)}`,
    open(sealed) {
      const end = sealed.lastIndexOf('.');
      const text = sealed.slice(0, Math.max(0, end));
      return isSame(sealed.slice(end + 1), sign(text)) ? text : null;
    },
  };
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A command as text that `commandOfText` parses. */
export function textOfCommand({ path, options }: ReplyCommand): string {
  return `${path.join(' ')}?${new URLSearchParams(options)}`;
}

export function commandOfText(text: string): ReplyCommand {
  const at = text.indexOf('?');
  return { path: text.slice(0, at).split(' '), options: Object.fromEntries(new URLSearchParams(text.slice(at + 1))) };
}
