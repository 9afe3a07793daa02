import { type Command, InvalidArgumentError } from 'commander';
import { describe } from '../domain/errors.ts';
import { parseKey } from '../domain/key.ts';
import type { ConversationKey } from '../domain/message.ts';

const CONVERSATION = '--conversation <key>';
const KEY_TEXT = 'key as platform:workspace:channel[:thread], for example terminal:local:main';

/** `--conversation KEY`, parsed by Commander. */
export function addConversation(command: Command): Command {
  return command.option(CONVERSATION, KEY_TEXT, readKey);
}

/** The same for a command that does nothing without one. */
export function requireConversation(command: Command): Command {
  return command.requiredOption(CONVERSATION, `${KEY_TEXT} (required; \`strata context\` lists them)`, readKey);
}

function readKey(text: string): ConversationKey {
  try {
    return parseKey(text).key;
  } catch (error) {
    throw new InvalidArgumentError(describe(error));
  }
}

export function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Expected a whole number of at least 1.');
  return Number(text);
}
