/** The share of the window that is used after a provider has rejected a size that should have fitted. */
const REDUCED_SHARE = 0.5;

/** Remembers that the window is smaller than assumed, for the running turn only. */
export interface ReducedWindows {
  /** The share of the window that the turn may use. */
  shareOf(turn: TurnOfConversation): number;
  /** Halves it and returns the remaining share. */
  reduce(turn: TurnOfConversation): number;
  /** The conversation has ended. */
  end(conversationId: number): void;
}

interface TurnOfConversation {
  readonly conversationId: number;
  readonly readUpto: number;
}

export function createReducedWindows(): ReducedWindows {
  const reducedTurns = new Map<number, number>();
  return {
    shareOf({ conversationId, readUpto }) {
      const turn = reducedTurns.get(conversationId);
      if (turn === undefined) return 1;
      if (turn === readUpto) return REDUCED_SHARE;
      reducedTurns.delete(conversationId);
      return 1;
    },
    reduce({ conversationId, readUpto }) {
      reducedTurns.set(conversationId, readUpto);
      return REDUCED_SHARE;
    },
    end: (conversationId) => void reducedTurns.delete(conversationId),
  };
}
