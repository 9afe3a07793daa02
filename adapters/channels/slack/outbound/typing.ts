import type { ConversationKey } from '../../../../src/adapter-kit.ts';
import { createWorkingSigns, type WorkingSigns } from '../../shared/working-signs.ts';
import { placeOfKey } from '../place.ts';
import type { Threads } from '../threads.ts';
import type { Workspace } from '../workspace.ts';

/** Slack removes the status after two minutes. */
const REFRESH_MS = 90_000;
const MAX_MS = 900_000;

export interface TypingOptions {
  readonly workspace: Workspace;
  readonly threads: Threads;
  readonly status: string;
}

/** The status below a thread while a turn works. Slack clears it when the bot posts. */
export function createTyping(options: TypingOptions): WorkingSigns {
  const show = (conversation: ConversationKey, status: string): void => {
    setStatus(options, conversation, status).catch(() => undefined);
  };
  const signs = createWorkingSigns({
    refreshMs: REFRESH_MS,
    maxMs: MAX_MS,
    begin: (conversation) => () => show(conversation, options.status),
  });
  return {
    ...signs,
    start(conversation) {
      if (options.status !== '') signs.start(conversation);
    },
    stop(conversation) {
      const isShown = signs.stop(conversation);
      if (isShown) show(conversation, '');
      return isShown;
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
