import {
  type Author,
  authorLabel,
  type CommandReply,
  errorReply,
  makeReply,
  type ReplyCommand,
} from '../../../../src/adapter-kit.ts';
import { saidBy } from '../../shared/said-by.ts';

export const REMEMBER_MENU = 'remember_message';
export const FORGET_MENU = 'forget_message';
export const WHY_MENU = 'why_message';

export interface Target {
  readonly ts: string;
  readonly threadTs: string | null;
  readonly author: Author;
  readonly text: string;
}

/** "Remember this": the message in its author's words. Null if it has no text. */
export function rememberCommand({ author, text }: Target, userId: string): ReplyCommand | null {
  if (text.trim() === '') return null;
  const said = author.id === userId ? text : saidBy(author, text);
  return { path: ['memory', 'remember'], options: { text: said } };
}

/** "Why this reply?", also for a message that the bot answered. */
export function whyCommand({ ts }: Pick<Target, 'ts'>): ReplyCommand {
  return { path: ['why', 'show'], options: { message: ts } };
}

/** "Forget this", after confirmation. */
export function forgetCommand({ ts, threadTs, author }: Target): ReplyCommand {
  return { path: ['forget'], options: { ts, thread: threadTs ?? '', author: author.id } };
}

export function forgetQuestion({ author, text }: Target): string {
  const excerpt = text.replace(/\s+/g, ' ').slice(0, 200).toWellFormed();
  return `The bot forgets this message of ${authorLabel(author)}, the memories that come only from it, and its own messages that repeat it. The message itself stays.\n${excerpt}`;
}

/** A message may be forgotten by its author and by whoever manages the place. */
export function mayForget(
  authorId: string,
  who: { readonly userId: string; readonly rights: string; readonly isDirect: boolean },
): CommandReply | null {
  if (authorId === who.userId || who.rights !== 'member' || who.isDirect) return null;
  return errorReply('Only the author of a message and the people who manage this place can have it forgotten.');
}

export const FORGOTTEN = makeReply('Forgotten', {
  text: 'The bot has forgotten this message.',
  tone: 'success',
});
