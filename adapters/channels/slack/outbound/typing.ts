import type { ConversationKey } from '../../../../src/adapter-kit.ts';
import { placeOfKey } from '../place.ts';
import type { Threads } from '../threads.ts';
import type { Workspace } from '../workspace.ts';

/** Slack removes the status after two minutes. */
const REFRESH_MS = 90_000;
/** After this, a turn no longer shows the status. */
const MAX_MS = 900_000;

export interface TypingOptions {
  readonly workspace: Workspace;
  readonly threads: Threads;
  readonly status: string;
}

/** The status below a thread while a turn works. Slack clears it when the bot posts. */
export interface Typing {
  start(conversation: ConversationKey): void;
  stop(conversation: ConversationKey): void;
  stopAll(): void;
}

export function createTyping(options: TypingOptions): Typing {
  const timers = new Map<ConversationKey, NodeJS.Timeout>();
  const show = (conversation: ConversationKey, status: string): void => {
    setStatus(options, conversation, status).catch(() => undefined);
  };
  const end = (conversation: ConversationKey): boolean => {
    clearInterval(timers.get(conversation));
    return timers.delete(conversation);
  };
  return {
    start(conversation) {
      if (options.status === '' || timers.has(conversation)) return;
      let left = Math.floor(MAX_MS / REFRESH_MS);
      const timer = setInterval(() => {
        left -= 1;
        if (left <= 0) end(conversation);
        else show(conversation, options.status);
      }, REFRESH_MS);
      timers.set(conversation, timer.unref());
      show(conversation, options.status);
    },
    stop(conversation) {
      if (end(conversation)) show(conversation, '');
    },
    stopAll() {
      for (const conversation of timers.keys()) end(conversation);
    },
  };
}

async function setStatus(
  { workspace, threads }: TypingOptions,
  conversation: ConversationKey,
  status: string,
): Promise<void> {
  const threadTs = await threads.of(conversation);
  if (threadTs === null) return;
  const { channelId } = placeOfKey(conversation);
  await workspace.web.assistant.threads.setStatus({ channel_id: channelId, thread_ts: threadTs, status });
}
