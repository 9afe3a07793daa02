import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { z } from 'zod';
import {
  type Clock,
  commandOfText,
  createTokenSigner,
  type Random,
  type ReplyCommand,
  type StateStore,
  textOfCommand,
} from '../../../../src/adapter-kit.ts';

/** What a button does: `page` and `cancel` change their message, `run` answers below it. */
export const DEEDS = { page: 'p', run: 'r', confirm: 'c', cancel: 'x', forget: 'm' } as const;
export type Deed = keyof typeof DEEDS;

export interface Button {
  readonly deed: Deed;
  /** Who may press it. */
  readonly ownerId: string;
  readonly command: ReplyCommand;
}

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
  /** Deletes stored long commands that nobody will use any more. */
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
const KEPT_MS = 7 * 86_400_000;
const SWEEP_MS = 3_600_000;
const STORED = '~';

export function createButtons({ secret, state, clock, random }: ButtonOptions): Buttons {
  const seal = createTokenSigner(secret);
  let sweptAt = 0;
  const sweep = async (): Promise<void> => {
    sweptAt = clock.now();
    for (const { key, value } of await state.list(NAMESPACE)) {
      const kept = storedSchema.safeParse(value).data;
      if (kept === undefined || clock.now() - kept.at > KEPT_MS) await state.delete(NAMESPACE, key);
    }
  };
  return {
    async write({ deed, ownerId, command }) {
      const head = `${DEEDS[deed]}.${BigInt(ownerId).toString(36)}.`;
      const whole = seal.close(head + textOfCommand(command));
      if (whole.length <= MAX_ID) return whole;
      if (clock.now() - sweptAt > SWEEP_MS) await sweep();
      const id = random.id();
      const { name, encrypt } = lockOf(secret, id);
      await state.set(NAMESPACE, name, { sealed: encrypt(textOfCommand(command)), at: clock.now() });
      return seal.close(`${head}${STORED}${id}`);
    },
    async read(customId) {
      const text = seal.open(customId) ?? '';
      const [, letter = '', owner = '', payload = ''] = /^(\w)\.(\w+)\.([\s\S]*)$/.exec(text) ?? [];
      const deed = deedOf(letter);
      if (deed === null) return { kind: 'foreign' };
      const command = payload.startsWith(STORED) ? await stored(state, lockOf(secret, payload.slice(1))) : payload;
      if (command === null) return { kind: 'expired' };
      return { kind: 'button', button: { deed, ownerId: fromBase36(owner), command: commandOfText(command) } };
    },
    sweep,
  };
}

const storedSchema = z.object({ sealed: z.string(), at: z.number() });

async function stored(state: StateStore, { name, decrypt }: Lock): Promise<string | null> {
  const kept = storedSchema.safeParse(await state.get(NAMESPACE, name)).data;
  return kept === undefined ? null : decrypt(kept.sealed);
}

interface Lock {
  readonly name: string;
  encrypt(text: string): string;
  /** Null if it was changed. */
  decrypt(sealed: string): string | null;
}

const ALGORITHM = 'aes-256-gcm';
/** Each key encrypts one text only. */
const IV = Buffer.alloc(12);
const TAG_BYTES = 16;

/**
 * What a person typed may be forgotten while the button still exists. Only the button contains the id, so the store
 * alone does not reveal the text.
 */
function lockOf(secret: string, id: string): Lock {
  const derive = (purpose: string) => createHmac('sha256', secret).update(`${purpose} ${id}`).digest();
  const key = derive('key');
  return {
    name: derive('name').toString('base64url'),
    encrypt(text) {
      const cipher = createCipheriv(ALGORITHM, key, IV);
      return Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
    },
    decrypt(sealed) {
      const whole = Buffer.from(sealed, 'base64url');
      try {
        const decipher = createDecipheriv(ALGORITHM, key, IV, { authTagLength: TAG_BYTES });
        decipher.setAuthTag(whole.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(whole.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8');
      } catch {
        return null;
      }
    },
  };
}

function deedOf(letter: string): Deed | null {
  const found = Object.entries(DEEDS).find(([, own]) => own === letter)?.[0];
  return found !== undefined && isDeed(found) ? found : null;
}

function isDeed(text: string): text is Deed {
  return text in DEEDS;
}

function fromBase36(text: string): string {
  return [...text].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n).toString();
}
