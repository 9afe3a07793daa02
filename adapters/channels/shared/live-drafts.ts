import { type Clock, type ConversationKey, describe, type Log } from '../../../src/adapter-kit.ts';

/** Replies shown while they are written: one draft per conversation, changed at intervals until its reply ends. */
export interface LiveDrafts<Shown> {
  has(conversation: ConversationKey): boolean;
  /** The answer so far. Returns at once; the draft begins with the first text. */
  show(conversation: ConversationKey, answer: string): void;
  /** Ends the draft. Resolves when nothing of it is on its way, to what is shown of it; null if there is no draft. */
  end(conversation: ConversationKey): Promise<Shown | null>;
}

/** What a platform does for a draft. */
export interface DraftPlatform<Shown> {
  /** What is shown of a new draft: nothing yet. */
  begin(conversation: ConversationKey): Shown;
  /** The part of the answer to show. */
  textOf(answer: string): string;
  /**
   * Shows the text. False if it cannot be shown now; after a pause it is tried again. If it rejects, the draft stays as
   * it is until the answer grows.
   */
  write(change: DraftChange<Shown>): Promise<boolean>;
}

export interface DraftChange<Shown> {
  readonly conversation: ConversationKey;
  readonly shown: Shown;
  readonly text: string;
  /** The text shown so far. */
  readonly before: string;
  /** Aborted when the draft ends. */
  readonly signal: AbortSignal;
}

interface Context {
  readonly settings: { readonly streaming: boolean; readonly streaming_seconds: number };
  readonly clock: Clock;
  readonly log: Log;
}

interface Draft<Shown> {
  readonly shown: Shown;
  /** Grows with each delta of the answer. Read only at intervals, because reading costs as much as the text is long. */
  answer: string;
  text: string;
  readonly over: AbortController;
  running: Promise<void>;
}

const IDLE = Promise.resolve();

export function createLiveDrafts<Shown>(context: Context, platform: DraftPlatform<Shown>): LiveDrafts<Shown> {
  const drafts = new Map<ConversationKey, Draft<Shown>>();
  const begin = (conversation: ConversationKey): Draft<Shown> => {
    const shown = platform.begin(conversation);
    const draft = { shown, answer: '', text: '', over: new AbortController(), running: IDLE };
    drafts.set(conversation, draft);
    return draft;
  };
  /** The latest text wins; the configured time passes between two changes. */
  const write = async (conversation: ConversationKey, draft: Draft<Shown>): Promise<void> => {
    const { signal } = draft.over;
    const pause = () => context.clock.sleep(context.settings.streaming_seconds * 1000, { signal });
    try {
      // The first words wait too, so that a quick reply is posted whole.
      await pause();
      for (let text = platform.textOf(draft.answer); text !== draft.text; text = platform.textOf(draft.answer)) {
        const change = { conversation, shown: draft.shown, text, before: draft.text, signal };
        if (await platform.write(change)) draft.text = text;
        await pause();
      }
    } catch (error) {
      if (!signal.aborted) context.log.debug('A draft was not shown', { conversation, cause: describe(error) });
    } finally {
      draft.running = IDLE;
    }
  };
  return {
    has: (conversation) => drafts.has(conversation),
    show(conversation, answer) {
      if (!context.settings.streaming) return;
      const draft = drafts.get(conversation) ?? begin(conversation);
      draft.answer = answer;
      if (draft.running === IDLE) draft.running = write(conversation, draft);
    },
    async end(conversation) {
      const draft = drafts.get(conversation);
      if (draft === undefined) return null;
      drafts.delete(conversation);
      draft.over.abort();
      await draft.running;
      return draft.shown;
    },
  };
}
