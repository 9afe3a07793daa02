import type { ChannelSink, CommandInvocation, CommandReply } from '../../../../src/adapter-kit.ts';
import { type ChosenMessage, FORGOTTEN, forgetQuestion, forgetRefusal } from '../../shared/message-menus.ts';
import { authorOf } from '../map.ts';
import type { WireQuoted } from '../wire.ts';
import { button, question, type Shown } from './replies.ts';

export function chosenMessage({ author, content }: WireQuoted): ChosenMessage {
  return { author: authorOf(author), text: content };
}

/** The question of "Forget this". */
export function forgetMenu(message: WireQuoted): Shown {
  const { id, author } = message;
  return question(forgetQuestion(chosenMessage(message)), [
    button('Forget it', 'forget', { path: ['forget'], options: { message: id, author: author.id } }),
    button('Cancel', 'cancel', { path: ['forget'], options: {} }),
  ]);
}

/** The answer to "Forget it". */
export async function forgetMessage(
  sink: Pick<ChannelSink, 'removed'>,
  invocation: CommandInvocation,
): Promise<CommandReply> {
  const { message = '', author = '' } = invocation.options;
  const refusal = forgetRefusal(author, invocation);
  if (refusal !== null) return refusal;
  await sink.removed({ conversation: invocation.conversation, externalIds: [message] });
  return FORGOTTEN;
}
