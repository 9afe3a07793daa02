import { commandOfText, createTokenSigner, type ReplyCommand, textOfCommand } from '../../../../src/adapter-kit.ts';

/** What a button does: `page` changes its list, `run` answers below it, `forget` removes a message. */
export const KIND_LETTERS = { page: 'p', run: 'r', confirm: 'c', forget: 'm' } as const;
export type ButtonKind = keyof typeof KIND_LETTERS;

export interface Button {
  readonly kind: ButtonKind;
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
    write({ kind, ownerId, command }) {
      return signer.sign(`${KIND_LETTERS[kind]}.${ownerId}.${textOfCommand(command)}`);
    },
    read(value) {
      const text = signer.verify(value) ?? '';
      const [, letter = '', ownerId = '', payload = ''] = /^(\w)\.(\w+)\.([\s\S]*)$/.exec(text) ?? [];
      const kind = kindOf(letter);
      return kind === null ? null : { kind, ownerId, command: commandOfText(payload) };
    },
  };
}

function kindOf(letter: string): ButtonKind | null {
  const found = Object.entries(KIND_LETTERS).find(([, own]) => own === letter)?.[0];
  return found !== undefined && isKind(found) ? found : null;
}

function isKind(text: string): text is ButtonKind {
  return text in KIND_LETTERS;
}
