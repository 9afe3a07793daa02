import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ReplyCommand } from '../../../src/index.ts';

/** What a button does: `page` changes the list that it stands in, `run` answers below it, `forget` takes out a message. */
export const DEEDS = { page: 'p', run: 'r', confirm: 'c', forget: 'm' } as const;
export type Deed = keyof typeof DEEDS;

export interface Button {
  readonly deed: Deed;
  /** Who may press it. */
  readonly ownerId: string;
  readonly command: ReplyCommand;
}

/** Buttons carry their command and their owner, signed: they work after a restart, and only as they were made. */
export interface Buttons {
  write(button: Button): string;
  /** Null for what this bot did not make. */
  read(value: string): Button | null;
}

const SIGNATURE_LENGTH = 8;

/** `secret` is known to this bot only. */
export function createButtons(secret: string): Buttons {
  const sign = (text: string) =>
    createHmac('sha256', secret).update(text).digest('base64url').slice(0, SIGNATURE_LENGTH);
  return {
    write({ deed, ownerId, command }) {
      const text = `${DEEDS[deed]}.${ownerId}.${writeCommand(command)}`;
      return `${text}.${sign(text)}`;
    },
    read(value) {
      const end = value.lastIndexOf('.');
      const text = value.slice(0, Math.max(0, end));
      const [, letter = '', ownerId = '', payload = ''] = /^(\w)\.(\w+)\.([\s\S]*)$/.exec(text) ?? [];
      const deed = deedOf(letter);
      if (deed === null || !same(value.slice(end + 1), sign(text))) return null;
      return { deed, ownerId, command: readCommand(payload) };
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
