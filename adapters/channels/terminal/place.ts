import type { Audience, ConversationKey } from '../../../src/adapter-kit.ts';

/** The conversation of a session. Each demo has its own, so that demos do not mix with other conversations. */
export interface Place {
  readonly conversation: ConversationKey;
  readonly audience: Audience;
}
