import type { Author, ReplyCommand } from '../../../../src/adapter-kit.ts';
import type { WireMessage } from '../wire.ts';

export const REMEMBER_MENU = 'remember_message';
export const FORGET_MENU = 'forget_message';
export const WHY_MENU = 'why_message';

/** Names the message that a confirmed form removes. */
export function forgetCommand({ ts, thread_ts: threadTs }: WireMessage, author: Author): ReplyCommand {
  return { path: ['forget'], options: { ts, thread: threadTs ?? '', author: author.id } };
}
