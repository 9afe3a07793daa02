import type { ConversationKey } from '../../../src/adapter-kit.ts';

/** Signs that the bot is working, renewed while a turn works, because platforms remove them after a while. */
export interface WorkingSigns {
  start(conversation: ConversationKey): void;
  /** False if there was no sign. */
  stop(conversation: ConversationKey): boolean;
  /** Permanently: the bot stops. */
  end(): void;
}

export interface WorkingSignOptions {
  readonly refreshMs: number;
  /** After this, a turn no longer shows the sign. */
  readonly maxMs: number;
  /** Shows the sign of one turn, each time that it is called. */
  readonly begin: (conversation: ConversationKey) => () => void;
}

export function createWorkingSigns({ refreshMs, maxMs, begin }: WorkingSignOptions): WorkingSigns {
  const timers = new Map<ConversationKey, NodeJS.Timeout>();
  let isOver = false;
  const stop = (conversation: ConversationKey): boolean => {
    clearInterval(timers.get(conversation));
    return timers.delete(conversation);
  };
  return {
    start(conversation) {
      if (isOver || timers.has(conversation)) return;
      const show = begin(conversation);
      let left = Math.floor(maxMs / refreshMs);
      const timer = setInterval(() => {
        left -= 1;
        if (left <= 0) stop(conversation);
        else show();
      }, refreshMs);
      timers.set(conversation, timer.unref());
      show();
    },
    stop,
    end() {
      isOver = true;
      for (const conversation of timers.keys()) stop(conversation);
    },
  };
}
