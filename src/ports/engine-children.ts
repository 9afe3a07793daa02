import type { ConversationKey } from '../domain/message.ts';

/**
 * Called around child conversations. A tool opens one for a part of its work; the engine serves it like any other
 * conversation, with its own transcript and view.
 */
export interface EngineChildren {
  /** Called before the child has a message. A rejection means that the child does not start. */
  prepareChild(start: ChildStart): Promise<ChildPreparation | null>;
  /**
   * Called once the child has ended, before its transcript is deleted. After a crash any gateway calls it, so it may
   * name a child that this process has not prepared, or be repeated.
   */
  endChild(end: ChildEnd): Promise<void>;
}

/** A child conversation that is about to begin. */
export interface ChildStart {
  readonly parent: ConversationKey;
  readonly child: ConversationKey;
  /** The child ends after this time at the latest. */
  readonly ttlMs: number;
}

/** What `prepareChild` may return. Null if there is nothing to undo. */
export interface ChildPreparation {
  /** Called instead of `endChild` if the child's first message could not be stored. */
  readonly rollback: () => Promise<void>;
}

/** A child conversation that has ended. */
export interface ChildEnd {
  readonly parent: ConversationKey;
  readonly child: ConversationKey;
  /** Null if the child has no row any more. */
  readonly conversationId: number | null;
  readonly reason: ChildEndReason;
}

/** `swept`: its process ended, or the parent was reset or deleted, and the child was found later. */
export type ChildEndReason = 'completed' | 'failed' | 'aborted' | 'swept';
