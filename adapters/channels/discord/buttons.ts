import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock, Random, ReplyCommand, StateStore } from '../../../src/index.ts';

/** What a button does: `page` and `cancel` change the message that it stands in, `run` answers below it. */
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
  /** Its command was too long for the button and is no longer kept. */
  | { readonly kind: 'expired' }
  /** Not made by this bot. */
  | { readonly kind: 'foreign' };

/** Buttons carry their command and their owner, signed: they work after a restart, and only as they were made. */
export interface Buttons {
  write(button: Button): Promise<string>;
  read(customId: string): Promise<ReadButton>;
  /** Forgets long commands that nobody will press any more. */
  sweep(): Promise<void>;
}

export interface ButtonParts {
  /** Known to this bot only. */
  readonly secret: string;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly random: Random;
}

const NAMESPACE = 'discord.buttons';
const LONGEST_ID = 100;
const KEPT_MS = 7 * 86_400_000;
const SIGNATURE_LENGTH = 8;
const STORED = '~';

export function createButtons({ secret, state, clock, random }: ButtonParts): Buttons {
  const sign = (text: string) =>
    createHmac('sha256', secret).update(text).digest('base64url').slice(0, SIGNATURE_LENGTH);
  const sealed = (text: string) => `${text}.${sign(text)}`;
  return {
    async write({ deed, ownerId, command }) {
      const head = `${DEEDS[deed]}.${BigInt(ownerId).toString(36)}.`;
      const whole = sealed(head + writeCommand(command));
      if (whole.length <= LONGEST_ID) return whole;
      const id = random.id();
      await state.set(NAMESPACE, id, { command: writeCommand(command), at: clock.now() });
      return sealed(`${head}${STORED}${id}`);
    },
    async read(customId) {
      const end = customId.lastIndexOf('.');
      const text = customId.slice(0, Math.max(0, end));
      const [, letter = '', owner = '', payload = ''] = /^(\w)\.(\w+)\.([\s\S]*)$/.exec(text) ?? [];
      const deed = deedOf(letter);
      if (deed === null || !same(customId.slice(end + 1), sign(text))) return { kind: 'foreign' };
      const command = payload.startsWith(STORED) ? await stored(state, payload.slice(1)) : payload;
      if (command === null) return { kind: 'expired' };
      return { kind: 'button', button: { deed, ownerId: fromBase36(owner), command: readCommand(command) } };
    },
    async sweep() {
      for (const { key, value } of await state.list(NAMESPACE)) {
        const kept = storedSchema.safeParse(value).data;
        if (kept === undefined || clock.now() - kept.at > KEPT_MS) await state.delete(NAMESPACE, key);
      }
    },
  };
}

const storedSchema = z.object({ command: z.string(), at: z.number() });

async function stored(state: StateStore, id: string): Promise<string | null> {
  return storedSchema.safeParse(await state.get(NAMESPACE, id)).data?.command ?? null;
}

function deedOf(letter: string): Deed | null {
  const found = Object.entries(DEEDS).find(([, own]) => own === letter)?.[0];
  return found !== undefined && isDeed(found) ? found : null;
}

function isDeed(text: string): text is Deed {
  return text in DEEDS;
}

function same(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function writeCommand({ path, options }: ReplyCommand): string {
  return `${path.join(' ')}?${new URLSearchParams(options)}`;
}

function readCommand(text: string): ReplyCommand {
  const at = text.indexOf('?');
  return { path: text.slice(0, at).split(' '), options: Object.fromEntries(new URLSearchParams(text.slice(at + 1))) };
}

function fromBase36(text: string): string {
  return [...text].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n).toString();
}
