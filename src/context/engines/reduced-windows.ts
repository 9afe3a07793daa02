import type { AssembleRequest } from '../../ports/engine.ts';
import { createRecentMap } from '../../util/recent-map.ts';

/** The share of the window that is used after a provider has rejected a size that should have fitted. */
const REDUCED_SHARE = 0.5;
/** Of conversations. Far fewer have a turn at the same time, and most never have another one like it. */
const MAX_REMEMBERED = 1_000;

/** Remembers that the window is smaller than assumed, for the running turn only. */
export interface ReducedWindows {
  /** The share of the window that the turn may use. */
  shareOf(turn: TurnOfConversation): number;
  /** Leaves half of it, or `atMost` if that is less, and returns the remaining share. */
  reduce(turn: TurnOfConversation, atMost?: number): number;
  /** The conversation has ended. */
  end(conversationId: number): void;
}

type TurnOfConversation = Pick<AssembleRequest, 'snapshot' | 'readUpto'>;

export function createReducedWindows(): ReducedWindows {
  const reducedTurns = createRecentMap<number, { readonly readUpto: number; readonly share: number }>(MAX_REMEMBERED);
  return {
    shareOf({ snapshot, readUpto }) {
      const { id } = snapshot.conversation;
      const turn = reducedTurns.get(id);
      if (turn === undefined) return 1;
      if (turn.readUpto === readUpto) return turn.share;
      reducedTurns.delete(id);
      return 1;
    },
    reduce({ snapshot, readUpto }, atMost = REDUCED_SHARE) {
      const share = Math.min(REDUCED_SHARE, atMost);
      reducedTurns.set(snapshot.conversation.id, { readUpto, share });
      return share;
    },
    end: (conversationId) => void reducedTurns.delete(conversationId),
  };
}
