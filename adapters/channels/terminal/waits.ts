import type { ConversationKey, InboundMessage } from '../../../src/adapter-kit.ts';

/** Which messages wait for a reply. A reply to a message also answers the earlier ones of its conversation. */
export interface ReplyWaits {
  expect(message: Pick<InboundMessage, 'conversation' | 'externalId'>): {
    readonly posted: Promise<void>;
    cancel(): void;
  };
  /** A turn starts: it reads every waiting message. */
  working(conversation: ConversationKey): void;
  answered(post: { readonly conversation: ConversationKey; readonly replyTo: string | null }): void;
  /** Everything that a turn has read is answered, or never will be. */
  idle(conversation: ConversationKey): void;
  /** The session ends, so nothing waits any more. */
  release(): void;
}

interface Wait {
  readonly conversation: ConversationKey;
  readonly externalId: string;
  readonly done: () => void;
  isRead: boolean;
}

export function createReplyWaits(): ReplyWaits {
  let waits: readonly Wait[] = [];
  const settle = (chosen: readonly Wait[]) => {
    waits = waits.filter((wait) => !chosen.includes(wait));
    for (const wait of chosen) wait.done();
  };
  const here = (conversation: ConversationKey) => waits.filter((wait) => wait.conversation === conversation);
  return {
    expect({ conversation, externalId }) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wait: Wait = { conversation, externalId, done: resolve, isRead: false };
      waits = [...waits, wait];
      return { posted: promise, cancel: () => settle([wait]) };
    },
    working(conversation) {
      for (const wait of here(conversation)) wait.isRead = true;
    },
    answered({ conversation, replyTo }) {
      const mine = here(conversation);
      const last = mine.findIndex((wait) => wait.externalId === replyTo);
      settle(mine.slice(0, last + 1));
    },
    idle: (conversation) => settle(here(conversation).filter((wait) => wait.isRead)),
    release: () => settle(waits),
  };
}
