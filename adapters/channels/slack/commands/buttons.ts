import { commandOfText, createTokenSigner, type ReplyCommand, textOfCommand } from '../../../../src/adapter-kit.ts';

/** What a button does: `page` changes its list, `run` answers below it, `forget` removes a message. */
export const DEEDS = { page: 'p', run: 'r', confirm: 'c', forget: 'm' } as const;
export type Deed = keyof typeof DEEDS;

export interface Button {
  readonly deed: Deed;
  /** Who may press it. */
  readonly ownerId: string;
  readonly command: ReplyCommand;
}

/**
 * Buttons contain their command and their owner, signed. They work after a restart, but cannot be forged or changed.
 */
export interface Buttons {
  write(button: Button): string;
  /** Null if this bot did not create it. */
  read(value: string): Button | null;
}

/** `secret` is known only to this bot. */
export function createButtons(secret: string): Buttons {
  const signer = createTokenSigner(secret);
  return {
    write({ deed, ownerId, command }) {
      return signer.sign(`${DEEDS[deed]}.${ownerId}.${textOfCommand(command)}`);
    },
    read(value) {
      const text = signer.verify(value) ?? '';
      const [, letter = '', ownerId = '', payload = ''] = /^(\w)\.(\w+)\.([\s\S]*)$/.exec(text) ?? [];
      const deed = deedOf(letter);
      return deed === null ? null : { deed, ownerId, command: commandOfText(payload) };
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
