import { createHmac } from 'node:crypto';
import { z } from 'zod';
import {
  type Clock,
  commandOfText,
  createTokenSigner,
  DAY_MS,
  HOUR_MS,
  type Random,
  type StateStore,
  textOfCommand,
} from '../../../../src/adapter-kit.ts';
import { type Button, readButton, writeButton } from '../../shared/buttons.ts';
import { decrypt, type EncryptionKey, encrypt } from '../../shared/encryption.ts';

export type ReadButton =
  | { readonly kind: 'button'; readonly button: Button }
  /** Its command was too long for the button and is no longer stored. */
  | { readonly kind: 'expired' }
  /** Not made by this bot. */
  | { readonly kind: 'foreign' };

/**
 * Buttons contain their command and their owner, signed. They work after a restart, but cannot be forged or changed.
 */
export interface Buttons {
  write(button: Button): Promise<string>;
  read(customId: string): Promise<ReadButton>;
  /** Deletes stored long commands of expired buttons. */
  sweep(): Promise<void>;
}

export interface ButtonOptions {
  /** Known only to this bot. */
  readonly secret: string;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly random: Random;
}

const NAMESPACE = 'discord.buttons';
const MAX_ID = 100;
const KEPT_MS = 7 * DAY_MS;
const SWEEP_MS = HOUR_MS;
const STORED = '~';

export function createButtons({ secret, state, clock, random }: ButtonOptions): Buttons {
  const signer = createTokenSigner(secret);
  let sweptAt = 0;
  const sweep = async (): Promise<void> => {
    sweptAt = clock.now();
    for (const { key, value } of await state.list(NAMESPACE)) {
      const kept = storedSchema.safeParse(value).data;
      if (kept === undefined || clock.now() - kept.at > KEPT_MS) await state.delete(NAMESPACE, key);
    }
  };
  return {
    async write({ kind, ownerId, command }) {
      const sign = (text: string) =>
        signer.sign(writeButton({ kind, ownerId: BigInt(ownerId).toString(36), command: text }));
      const whole = sign(textOfCommand(command));
      if (whole.length <= MAX_ID) return whole;
      if (clock.now() - sweptAt > SWEEP_MS) await sweep();
      const id = random.id();
      const { name, lock } = lockOf(secret, id);
      await state.set(NAMESPACE, name, { sealed: encrypt(textOfCommand(command), lock), at: clock.now() });
      return sign(`${STORED}${id}`);
    },
    async read(customId) {
      const read = readButton(signer.verify(customId) ?? '');
      if (read === null) return { kind: 'foreign' };
      const { kind, ownerId, command: text } = read;
      const command = text.startsWith(STORED) ? await stored(state, lockOf(secret, text.slice(1))) : text;
      if (command === null) return { kind: 'expired' };
      return { kind: 'button', button: { kind, ownerId: fromBase36(ownerId), command: commandOfText(command) } };
    },
    sweep,
  };
}

const storedSchema = z.object({ sealed: z.string(), at: z.number() });

/** Null if it is no longer there, or was changed. */
async function stored(state: StateStore, { name, lock }: ReturnType<typeof lockOf>): Promise<string | null> {
  const kept = storedSchema.safeParse(await state.get(NAMESPACE, name)).data;
  try {
    return kept === undefined ? null : decrypt(kept.sealed, lock);
  } catch {
    return null;
  }
}

/**
 * What a person typed may be forgotten while the button still exists. Only the button contains the id, so the store
 * alone does not reveal the text.
 */
function lockOf(secret: string, id: string): { readonly name: string; readonly lock: EncryptionKey } {
  const derive = (purpose: string) => createHmac('sha256', secret).update(`${purpose} ${id}`).digest();
  const name = derive('name').toString('base64url');
  return { name, lock: { key: derive('key'), owner: name } };
}

function fromBase36(text: string): string {
  return [...text].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n).toString();
}
