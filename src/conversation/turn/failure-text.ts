import type { ConversationKey } from '../../domain/message.ts';
import type { Channel } from '../../ports/channel.ts';
import type { TurnFailure } from '../../ports/events.ts';
import { promptSourceOf } from '../../prompts/variables.ts';
import type { Services } from '../../services.ts';

/** The bot's text when it cannot answer. */
export function failureText(
  {
    services,
    channelOf,
  }: {
    readonly services: Pick<Services, 'agents' | 'prompts'>;
    channelOf(conversation: ConversationKey): Channel | null;
  },
  { key }: { readonly key: ConversationKey },
  reason: TurnFailure,
): string {
  const agent = services.agents.agentFor(key);
  const commandPrefix = channelOf(key)?.traits.commandPrefix ?? '/';
  return services.prompts.render('failure', { reason, commandPrefix }, promptSourceOf(agent)).text;
}
