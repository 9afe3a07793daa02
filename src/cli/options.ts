import { type Command, InvalidArgumentError } from 'commander';
import { parseKey } from '../domain/key.ts';
import type { ConversationKey } from '../domain/message.ts';

/** `--conversation KEY`, parsed by Commander. */
export function addConversation(command: Command, required: boolean): Command {
  const text = 'key as platform:workspace:channel[:thread], for example terminal:local:main';
  return required
    ? command.requiredOption('--conversation <key>', `${text} (required; \`strata context\` lists them)`, readKey)
    : command.option('--conversation <key>', text, readKey);
}

function readKey(text: string): ConversationKey {
  try {
    return parseKey(text).key;
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

export function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Expected a whole number of at least 1.');
  return Number(text);
}
