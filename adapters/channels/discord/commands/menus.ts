import {
  authorLabel,
  type ChannelSink,
  type CommandInvocation,
  type CommandReply,
  errorReply,
  makeReply,
  type ReplyCommand,
} from '../../../../src/adapter-kit.ts';
import { saidBy } from '../../shared/said-by.ts';
import { authorOf } from '../map.ts';
import type { WireQuoted } from '../wire.ts';
import { button, type Shown } from './replies.ts';

/** "Remember this": the message in its author's words. Null if it has no text. */
export function rememberCommand({ author, content }: WireQuoted, userId: string): ReplyCommand | null {
  if (content.trim() === '') return null;
  const said = author.id === userId ? content : saidBy(authorOf(author), content);
  return { path: ['memory', 'remember'], options: { text: said } };
}

/** "Why this reply?", also for a message that the bot answered. */
export function whyCommand({ id }: Pick<WireQuoted, 'id'>): ReplyCommand {
  return { path: ['why', 'show'], options: { message: id } };
}

/** "Forget this", which asks for confirmation. */
export function forgetQuestion({ id, author, content }: WireQuoted): Shown {
  const excerpt = content.replace(/\s+/g, ' ').slice(0, 200).toWellFormed();
  return {
    reply: makeReply('This cannot be undone', {
      text: `The bot forgets this message of ${authorLabel(authorOf(author))}, the memories that come only from it, and its own messages that repeat it. The message itself stays.\n${excerpt}`,
      tone: 'error',
    }),
    buttons: [
      button('Forget it', 'forget', { path: ['forget'], options: { message: id, author: author.id } }),
      button('Cancel', 'cancel', { path: ['forget'], options: {} }),
    ],
  };
}

interface Forgetting {
  readonly parts: { readonly sink: ChannelSink };
  readonly invoke: (command: ReplyCommand) => CommandInvocation;
  readonly userId: string;
}

/** A message may be forgotten by its author and by whoever manages the place. */
export async function forgetMessage(
  { parts, invoke, userId }: Forgetting,
  { message = '', author = '' }: Readonly<Record<string, string>>,
): Promise<CommandReply> {
  const { conversation, audience, rights } = invoke({ path: [], options: {} });
  if (author !== userId && rights === 'member' && audience !== 'dm') {
    return errorReply('Only the author of a message and the people who manage this place can have it forgotten.');
  }
  await parts.sink.removed({ conversation, externalIds: [message] });
  return makeReply('Forgotten', { text: 'The bot has forgotten this message.', tone: 'success' });
}
