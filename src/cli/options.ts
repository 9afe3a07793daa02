import { type Command, InvalidArgumentError } from 'commander';
import { StrataError } from '../domain/errors.ts';
import { parseKey } from '../domain/key.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { Conversation } from '../ports/store.ts';
import type { App } from './cli.ts';

/** `--conversation KEY`, parsed by Commander. */
export function addConversation(command: Command, required: boolean): Command {
  const text = 'key as platform:workspace:channel[:thread], for example terminal:local:main';
  return required
    ? command.requiredOption('--conversation <key>', `${text}; \`strata context\` lists them`, readKey)
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

/** Throws `CONVERSATION_UNKNOWN`. */
export async function findConversation(app: Pick<App, 'parts'>, key: ConversationKey): Promise<Conversation> {
  const conversation = await app.parts.store.conversations.find(key);
  if (conversation === null) throw new StrataError('CONVERSATION_UNKNOWN', { key });
  return conversation;
}
