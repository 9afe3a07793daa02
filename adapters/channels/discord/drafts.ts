import { MessageFlags, Routes } from 'discord.js';
import { type Clock, type ConversationKey, describe, type Log, parseKey, type StateStore } from '../../../src/index.ts';
import { placeOfKey, targetOf } from './place.ts';
import { NO_PINGS, referenceTo } from './post.ts';
import type { Rest } from './rest.ts';
import type { BotSettings } from './settings.ts';
import { cut, normalise, whole } from './split.ts';
import { sentSchema } from './wire.ts';

const NAMESPACE = 'discord.drafts';
/** Short of the limit of a message, so that a mark fits behind it. */
const DRAFT_LENGTH = 1900;
const MOST_KNOWN = 5_000;

export interface DraftParts {
  readonly bot: string;
  readonly rest: Rest;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<BotSettings, 'streaming' | 'streaming_seconds' | 'reply_reference'>;
}

/** A reply shown while it is written: one message, edited at a pace. Best effort; the final post never depends on it. */
export interface Drafts {
  /** What a reply in the conversation would answer. */
  answers(conversation: ConversationKey, externalId: string): void;
  show(conversation: ConversationKey, text: string): void;
  /** Ends the draft. Gives the message for the final text when it answers the same message. */
  take(conversation: ConversationKey, replyTo: string | null): Promise<string | null>;
  /** The turn ended without a post. */
  drop(conversation: ConversationKey): void;
  /** Removes what a crash left behind. */
  sweep(): Promise<void>;
}

interface Draft {
  readonly replyTo: string | null;
  wanted: string;
  shown: string;
  messageId: string | null;
  readonly over: AbortController;
  running: Promise<void>;
}

export function createDrafts(parts: DraftParts): Drafts {
  const drafts = new Map<ConversationKey, Draft>();
  const newest = new Map<ConversationKey, string>();
  const end = async (conversation: ConversationKey): Promise<Draft | null> => {
    const draft = drafts.get(conversation);
    if (draft === undefined) return null;
    drafts.delete(conversation);
    draft.over.abort();
    await draft.running;
    if (draft.messageId !== null) await parts.state.delete(NAMESPACE, conversation);
    return draft;
  };
  const remove = (conversation: ConversationKey, messageId: string | null): Promise<unknown> =>
    messageId === null
      ? Promise.resolve()
      : parts.rest.delete(Routes.channelMessage(targetOf(placeOfKey(conversation)), messageId)).catch(() => undefined);
  return {
    answers(conversation, externalId) {
      if (!parts.settings.streaming) return;
      if (newest.size >= MOST_KNOWN) newest.clear();
      newest.set(conversation, externalId);
    },
    show(conversation, text) {
      if (!parts.settings.streaming) return;
      const draft = drafts.get(conversation) ?? newDraft(newest.get(conversation) ?? null);
      drafts.set(conversation, draft);
      draft.wanted = presentable(text);
      if (draft.running === IDLE) draft.running = write(parts, conversation, draft);
    },
    async take(conversation, replyTo) {
      const draft = await end(conversation);
      if (draft === null || draft.messageId === null) return null;
      if (draft.replyTo === replyTo) return draft.messageId;
      await remove(conversation, draft.messageId);
      return null;
    },
    drop(conversation) {
      const work = async () => remove(conversation, (await end(conversation))?.messageId ?? null);
      work().catch((error: unknown) => parts.log.debug('A draft was left behind', { cause: describe(error) }));
    },
    sweep: () => sweep(parts),
  };
}

const IDLE = Promise.resolve();

function newDraft(replyTo: string | null): Draft {
  return { replyTo, wanted: '', shown: '', messageId: null, over: new AbortController(), running: IDLE };
}

/** The head of the text with its code blocks closed. */
function presentable(text: string): string {
  const tidy = normalise(text);
  const [first] = cut(tidy, DRAFT_LENGTH);
  if (first === undefined) return '';
  return first.text.length < tidy.length ? `${whole(first).trimEnd()}\n…` : whole(first);
}

/** The latest text wins; between two edits lies the configured time. */
async function write(parts: DraftParts, conversation: ConversationKey, draft: Draft): Promise<void> {
  const { signal } = draft.over;
  const pause = () => parts.clock.sleep(parts.settings.streaming_seconds * 1000, { signal });
  try {
    // The first words wait too: a quick reply is posted whole.
    await pause();
    while (draft.wanted !== draft.shown) {
      const text = draft.wanted;
      if (draft.messageId === null) await open(parts, conversation, { draft, text });
      else await change(parts, conversation, { draft, text });
      draft.shown = text;
      await pause();
    }
  } catch (error) {
    if (!signal.aborted) parts.log.debug('A draft was not shown', { conversation, cause: describe(error) });
  } finally {
    draft.running = IDLE;
  }
}

interface Showing {
  readonly draft: Draft;
  readonly text: string;
}

async function open(parts: DraftParts, conversation: ConversationKey, { draft, text }: Showing): Promise<void> {
  const { replyTo } = draft;
  const reference =
    replyTo !== null && parts.settings.reply_reference ? { message_reference: referenceTo(replyTo) } : {};
  const body = { content: text, allowed_mentions: NO_PINGS, flags: MessageFlags.SuppressEmbeds, ...reference };
  const answer = await parts.rest.post(Routes.channelMessages(targetOf(placeOfKey(conversation))), { body });
  draft.messageId = sentSchema.parse(answer).id;
  await parts.state.set(NAMESPACE, conversation, draft.messageId);
}

async function change(parts: DraftParts, conversation: ConversationKey, { draft, text }: Showing): Promise<void> {
  if (draft.messageId === null) return;
  const body = { content: text, allowed_mentions: NO_PINGS };
  await parts.rest.patch(Routes.channelMessage(targetOf(placeOfKey(conversation)), draft.messageId), { body });
}

async function sweep({ bot, rest, state }: DraftParts): Promise<void> {
  for (const { key, value } of await state.list(NAMESPACE)) {
    const place = placeOfKey(parseKey(key).key);
    if (place.bot !== bot || typeof value !== 'string') continue;
    await rest.delete(Routes.channelMessage(targetOf(place), value)).catch(() => undefined);
    await state.delete(NAMESPACE, key);
  }
}
