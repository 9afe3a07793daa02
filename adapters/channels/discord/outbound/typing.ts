import { Routes } from 'discord.js';
import type { ConversationKey } from '../../../../src/adapter-kit.ts';
import { placeOfKey, targetOf } from '../place.ts';
import type { Rest } from '../rest.ts';

/** Discord shows the typing sign for ten seconds. */
const REFRESH_MS = 8_000;
/** After this, a turn no longer shows the sign. */
const MAX_MS = 600_000;

/** The typing sign, renewed while a turn works. */
export interface Typing {
  start(conversation: ConversationKey): void;
  stop(conversation: ConversationKey): void;
  /** Permanently: the bot stops. */
  end(): void;
}

export function createTyping(rest: Rest, options: { readonly refreshMs?: number } = {}): Typing {
  const refreshMs = options.refreshMs ?? REFRESH_MS;
  const timers = new Map<ConversationKey, NodeJS.Timeout>();
  let isOver = false;
  const stop = (conversation: ConversationKey): void => {
    clearInterval(timers.get(conversation));
    timers.delete(conversation);
  };
  return {
    start(conversation) {
      if (isOver || timers.has(conversation)) return;
      const show = createSign(rest, targetOf(placeOfKey(conversation)));
      let left = Math.floor(MAX_MS / refreshMs);
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

/** One request at a time: the sign has a rate limit of its own, and a late one would appear after the reply. */
function createSign(rest: Rest, channelId: string): () => void {
  let isSending = false;
  const done = () => {
    isSending = false;
  };
  return () => {
    if (isSending) return;
    isSending = true;
    rest.post(Routes.channelTyping(channelId)).then(done, done);
  };
}
