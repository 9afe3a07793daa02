import { commandOfText, createTokenSigner, textOfCommand } from '../../../../src/adapter-kit.ts';
import { type Button, readButton, writeButton } from '../../shared/buttons.ts';

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
    write: (button) => signer.sign(writeButton({ ...button, command: textOfCommand(button.command) })),
    read(value) {
      const read = readButton(signer.verify(value) ?? '');
      return read === null ? null : { ...read, command: commandOfText(read.command) };
    },
  };
}
