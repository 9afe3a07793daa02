import {
  type Author,
  authorLabel,
  type CommandInvocation,
  type CommandReply,
  errorReply,
  makeReply,
  plainName,
  type ReplyCommand,
} from '../../../src/adapter-kit.ts';

/** What the menu of a message does on every platform. */

/** A message as somebody chose it. */
export interface ChosenMessage {
  readonly author: Author;
  readonly text: string;
}

export const NOTHING_TO_REMEMBER = 'There is no text to remember.';

/** "Remember this": the message in its author's words. Null if it has no text. */
export function rememberCommand({ author, text }: ChosenMessage, userId: string): ReplyCommand | null {
  if (text.trim() === '') return null;
  const said = author.id === userId ? text : saidBy(author, text);
  return { path: ['memory', 'remember'], options: { text: said } };
}

/**
 * A message as a statement about its author. A memory keeps no label, so its words say that a bot or a webhook wrote it,
 * whose name may be that of a person.
 */
function saidBy({ name, kind }: Author, text: string): string {
  return `${plainName(name)}${kind === 'bot' ? ' (bot)' : ''} said: ${text}`;
}

/** "Why this reply?", also for a message that the bot answered. */
export function whyCommand(messageId: string): ReplyCommand {
  return { path: ['why', 'show'], options: { message: messageId } };
}

const MAX_SHOWN = 200;

/** "Forget this" asks for confirmation first. */
export function forgetQuestion({ author, text }: ChosenMessage): string {
  const shown = text.replace(/\s+/g, ' ').slice(0, MAX_SHOWN).toWellFormed();
  return `The bot forgets this message of ${authorLabel(author)}, the memories that come only from it, and its own messages that repeat it. The message itself stays.\n${shown}`;
}

/** A message may be forgotten by its author and by whoever manages the place. Null if the person may. */
export function forgetRefusal(
  authorId: string,
  { author, rights, audience }: Pick<CommandInvocation, 'author' | 'rights' | 'audience'>,
): CommandReply | null {
  if (authorId === author.id || rights !== 'member' || audience === 'dm') return null;
  return errorReply('Only the author of a message and the people who manage this place can have it forgotten.');
}

export const FORGOTTEN = makeReply('Forgotten', { text: 'The bot has forgotten this message.', tone: 'success' });
