import type { ChannelSink, CommandInvocation, CommandReply } from '../../../../src/adapter-kit.ts';
import { type ChosenMessage, FORGOTTEN, forgetQuestion, forgetRefusal } from '../../shared/message-menus.ts';
import { authorOf, chosenText } from '../map.ts';
import type { Names } from '../places/places.ts';
import type { WireQuoted } from '../wire.ts';
import { button, question, type Shown } from './replies.ts';

export function chosenMessage(message: WireQuoted, names: Names): ChosenMessage {
  return { author: authorOf(message.author), text: chosenText(message, names) };
}

/** The question of "Forget this". */
export function forgetMenu(message: WireQuoted, names: Names): Shown {
  const { id, author } = message;
  return question(forgetQuestion(chosenMessage(message, names)), [
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
