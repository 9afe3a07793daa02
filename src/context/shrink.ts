/** How much of the window is used when a provider has refused a size that should have fitted. */
const SHRUNK = 0.5;

/** Remembers, for the running turn only, that its window is smaller than it was thought to be. */
export interface Shrinks {
  /** Share of the window that the turn may use. */
  factor(turn: TurnOfConversation): number;
  /** Halves it, and returns the share that is left. */
  shrink(turn: TurnOfConversation): number;
}

interface TurnOfConversation {
  readonly conversationId: number;
  readonly readUpto: number;
}

export function createShrinks(): Shrinks {
  const shrunk = new Map<number, number>();
  return {
    factor({ conversationId, readUpto }) {
      const turn = shrunk.get(conversationId);
      if (turn === undefined) return 1;
      if (turn === readUpto) return SHRUNK;
      shrunk.delete(conversationId);
      return 1;
    },
    shrink({ conversationId, readUpto }) {
      shrunk.set(conversationId, readUpto);
      return SHRUNK;
    },
  };
}
