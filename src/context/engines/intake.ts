import { createRecentMap } from '../../util/recent-map.ts';

/** Which messages an engine has taken in, by conversation. */
export interface Intake {
  /** Starts a conversation whose messages up to `upto` are known. False if it has started. */
  begin(conversationId: number, upto: number): boolean;
  /** False if the message was taken in before. */
  take(conversationId: number, seq: number): boolean;
  /** The conversation has ended. */
  end(conversationId: number): void;
  clear(): void;
}

/** Messages come almost in order: of those ahead of a missing one, only this many are remembered. */
const MAX_AHEAD = 1000;
/** Maximum number of remembered conversations, many more than are active at a time. The one used longest ago leaves first. */
const MAX_CONVERSATIONS = 2000;

interface Taken {
  /** Everything up to here is taken in. */
  upto: number;
  readonly ahead: Set<number>;
}

export function createIntake(): Intake {
  const known = createRecentMap<number, Taken>(MAX_CONVERSATIONS);
  const keep = (id: number, taken: Taken): Taken => {
    known.set(id, taken);
    return taken;
  };
  return {
    begin(id, upto) {
      if (known.has(id)) return false;
      keep(id, { upto, ahead: new Set() });
      return true;
    },
    take(id, seq) {
      const taken = keep(id, known.get(id) ?? { upto: 0, ahead: new Set() });
      if (seq <= taken.upto || taken.ahead.has(seq)) return false;
      taken.ahead.add(seq);
      if (taken.ahead.size > MAX_AHEAD) taken.upto = Math.min(...taken.ahead) - 1;
      while (taken.ahead.delete(taken.upto + 1)) taken.upto += 1;
      return true;
    },
    end: (id) => void known.delete(id),
    clear: () => known.clear(),
  };
}
