import type { ConversationKey } from '../../../../src/adapter-kit.ts';
import { createWorkingSigns, type WorkingSigns } from '../../shared/working-signs.ts';
import { placeOfKey } from '../places/place.ts';
import type { BotServices } from '../services.ts';

/** Slack removes the status after two minutes. */
const REFRESH_MS = 90_000;
const MAX_MS = 900_000;

type TypingOptions = Pick<BotServices, 'workspace' | 'threads' | 'settings'>;

/** The status below a thread while a turn works. Slack clears it when the bot posts. */
export function createTyping(options: TypingOptions): WorkingSigns {
  const status = options.settings.thinking;
  const show = (conversation: ConversationKey, shown: string): void => {
    setStatus(options, conversation, shown).catch(() => undefined);
  };
  const signs = createWorkingSigns({
    refreshMs: REFRESH_MS,
    maxMs: MAX_MS,
    begin: (conversation) => () => show(conversation, status),
  });
  return {
    ...signs,
    start(conversation) {
      if (status !== '') signs.start(conversation);
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
