import type { Audience, ConversationKey } from '../../../src/adapter-kit.ts';

/** The conversation that a session is in. Each demo plays in one of its own, so that nothing of it mixes with others. */
export interface Place {
  readonly conversation: ConversationKey;
  readonly audience: Audience;
}
