import type { AgentSettings } from '../../config/schema.ts';
import type { InboundMessage } from '../../domain/message.ts';

export type Decision =
  | { readonly reply: true }
  | { readonly reply: false; readonly reason: 'past' | 'observing' | 'not addressed' | 'bot' | 'bot loop' };

/**
 * Whether a message asks for a reply: always for a person in a DM, elsewhere according to the agent's mode. Every
 * message is stored anyway.
 */
export function decide(
  message: Pick<InboundMessage, 'author' | 'audience' | 'addressesBot' | 'isPast'>,
  agent: Pick<AgentSettings, 'mode' | 'allow_bots'>,
  botMayTrigger: () => boolean,
): Decision {
  if (message.isPast === true) return { reply: false, reason: 'past' };
  if (message.author.kind === 'bot') {
    if (!agent.allow_bots || !message.addressesBot) return { reply: false, reason: 'bot' };
    return botMayTrigger() ? { reply: true } : { reply: false, reason: 'bot loop' };
  }
  if (agent.mode === 'observe') return { reply: false, reason: 'observing' };
  if (message.audience === 'dm' || agent.mode === 'active' || message.addressesBot) return { reply: true };
  return { reply: false, reason: 'not addressed' };
}
