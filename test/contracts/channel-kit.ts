import type { ConversationKey, Post } from '../../src/adapter-kit.ts';

/** The first attempt at an answer, with what a test changes. */
export function postTo(conversation: ConversationKey, details: Partial<Post> = {}): Post {
  return {
    conversation,
    nonce: '1-1-0',
    body: { kind: 'text', text: 'an answer' },
    replyTo: null,
    attempt: 1,
    ...details,
  };
}
