import { MessageFlags, Routes } from 'discord.js';
import { z } from 'zod';
import {
  type Clock,
  type ConversationKey,
  createRecentMap,
  describe,
  type Log,
  type Post,
  parseKey,
  type Random,
  type StateStore,
  tidyReply,
} from '../../../../src/adapter-kit.ts';
import { placeOfKey, targetOf } from '../place.ts';
import type { Rest } from '../rest.ts';
import { isRefusal } from '../retry.ts';
import type { BotSettings } from '../settings.ts';
import { sentSchema, timeOf } from '../wire.ts';
import { NO_PINGS, postMessage, referenceTo } from './post.ts';
import { cut, whole } from './split.ts';

const NAMESPACE = 'discord.drafts';
/** Below the limit of a message, so that a closing marker fits. */
const DRAFT_LENGTH = 1900;
const READ_LENGTH = 8 * DRAFT_LENGTH;
const MAX_KNOWN = 5_000;
/** A post that was not made within this time is not tried again. */
const GIVEN_MS = 86_400_000;

export interface DraftContext {
  readonly bot: string;
  readonly rest: Rest;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly settings: Pick<BotSettings, 'streaming' | 'streaming_seconds' | 'reply_reference'>;
}

/**
 * A reply shown while it is written: one message, edited at intervals. Best effort; the final post never depends on it.
 */
export interface Drafts {
  /** What a reply in the conversation would answer. */
  answers(conversation: ConversationKey, externalId: string): void;
  show(conversation: ConversationKey, text: string): void;
  /**
   * Ends the draft. Returns its message for the final text if both answer the same message. Returns the same message
   * again after a crash, so that the text is not posted next to it.
   */
  take(conversation: ConversationKey, post: Taking): Promise<string | null>;
  /** Removes a message that cannot become the final text. */
  discard(conversation: ConversationKey, messageId: string): Promise<void>;
  /** The turn ended without a post. */
  drop(conversation: ConversationKey): void;
  /** Removes drafts left behind by a crash. */
  sweep(): Promise<void>;
}

type Taking = Pick<Post, 'nonce' | 'replyTo' | 'attempt'>;

/** With a nonce: the message was assigned to that post. */
const keptSchema = z.object({ messageId: z.string(), nonce: z.string().nullable() });

interface Draft {
  readonly replyTo: string | null;
  /** The same for every attempt to open it, so that a lost response leaves no second message. */
  readonly nonce: string;
  /** Its message was requested, and Discord has neither returned nor refused it. */
  mayExist: boolean;
  /** Grows with each delta of the answer. Read only at intervals, because reading costs as much as the text is long. */
  wanted: string;
  shown: string;
  messageId: string | null;
  readonly over: AbortController;
  running: Promise<void>;
}

export function createDrafts(context: DraftContext): Drafts {
  const drafts = new Map<ConversationKey, Draft>();
  const newest = createRecentMap<ConversationKey, string>(MAX_KNOWN);
  const end = async (conversation: ConversationKey): Promise<Draft | null> => {
    const draft = drafts.get(conversation);
    if (draft === undefined) return null;
    drafts.delete(conversation);
    draft.over.abort();
    await draft.running;
    if (draft.mayExist) await openAgain(context, conversation, draft);
    return draft;
  };
  return {
    answers(conversation, externalId) {
      if (!context.settings.streaming) return;
      newest.set(conversation, externalId);
    },
    show(conversation, text) {
      if (!context.settings.streaming) return;
      const draft = drafts.get(conversation) ?? newDraft(context, newest.get(conversation) ?? null);
      drafts.set(conversation, draft);
      draft.wanted = text;
      if (draft.running === IDLE) draft.running = write(context, conversation, draft);
    },
    async take(conversation, { nonce, replyTo, attempt }) {
      const draft = await end(conversation);
      if (draft === null || draft.messageId === null) {
        return attempt === 1 ? null : await givenTo(context, conversation, nonce);
      }
      if (draft.replyTo === replyTo) {
        await context.state.set(NAMESPACE, conversation, { messageId: draft.messageId, nonce });
        return draft.messageId;
      }
      await remove(context, conversation, draft.messageId);
      return null;
    },
    discard: (conversation, messageId) => remove(context, conversation, messageId),
    drop(conversation) {
      const work = async () => {
        const draft = await end(conversation);
        if (draft !== null && draft.messageId !== null) await remove(context, conversation, draft.messageId);
      };
      work().catch((error: unknown) => context.log.debug('A draft could not be removed', { cause: describe(error) }));
    },
    sweep: () => sweep(context),
  };
}

async function givenTo({ state }: DraftContext, conversation: ConversationKey, nonce: string): Promise<string | null> {
  const kept = keptSchema.safeParse(await state.get(NAMESPACE, conversation)).data;
  return kept?.nonce === nonce ? kept.messageId : null;
}

/** If Discord does not respond, the note stays for the next start. */
async function remove({ rest, state }: DraftContext, conversation: ConversationKey, messageId: string): Promise<void> {
  const deletion = rest.delete(Routes.channelMessage(targetOf(placeOfKey(conversation)), messageId));
  const isOver = await deletion.then(() => true, isRefusal);
  if (isOver) await state.delete(NAMESPACE, conversation);
  else await state.set(NAMESPACE, conversation, { messageId, nonce: null });
}

const IDLE = Promise.resolve();
const MAX_NONCE = 25;

function newDraft({ random }: DraftContext, replyTo: string | null): Draft {
  const nonce = random.id().slice(-MAX_NONCE);
  const state = { wanted: '', shown: '', messageId: null, mayExist: false, running: IDLE };
  return { replyTo, nonce, over: new AbortController(), ...state };
}

/** The start of the text with its code blocks closed. Text far beyond it is not read. */
function presentable(text: string): string {
  const tidy = tidyReply(text.slice(0, READ_LENGTH));
  const [first] = cut(tidy.slice(0, 2 * DRAFT_LENGTH), DRAFT_LENGTH);
  if (first === undefined) return '';
  return first.text.length < tidy.length ? `${whole(first).trimEnd()}\n…` : whole(first);
}

/** The latest text wins; the configured time passes between two edits. */
async function write(context: DraftContext, conversation: ConversationKey, draft: Draft): Promise<void> {
  const { signal } = draft.over;
  const pause = () => context.clock.sleep(context.settings.streaming_seconds * 1000, { signal });
  try {
    // The first words wait too, so that a quick reply is posted whole.
    await pause();
    for (let text = presentable(draft.wanted); text !== draft.shown; text = presentable(draft.wanted)) {
      draft.shown = text;
      if (text !== '') await advance(context, conversation, { draft, text });
      await pause();
    }
  } catch (error) {
    if (!signal.aborted) context.log.debug('A draft was not shown', { conversation, cause: describe(error) });
  } finally {
    draft.running = IDLE;
  }
}

interface Showing {
  readonly draft: Draft;
  readonly text: string;
}

async function advance(context: DraftContext, conversation: ConversationKey, showing: Showing): Promise<void> {
  const { messageId, mayExist } = showing.draft;
  if (messageId === null) await open(context, conversation, showing);
  // A message of an earlier attempt has the text of that attempt.
  if (messageId !== null || mayExist) await change(context, conversation, showing);
}

async function open(context: DraftContext, conversation: ConversationKey, { draft, text }: Showing): Promise<void> {
  const { replyTo } = draft;
  const reference =
    replyTo !== null && context.settings.reply_reference ? { message_reference: referenceTo(replyTo) } : {};
  const once = { nonce: draft.nonce, enforce_nonce: true };
  const shown = { content: text, allowed_mentions: NO_PINGS, flags: MessageFlags.SuppressEmbeds };
  const body = { ...shown, ...once, ...reference };
  draft.mayExist = true;
  try {
    const answer = await postMessage(context.rest, { channelId: targetOf(placeOfKey(conversation)), body });
    draft.messageId = sentSchema.parse(answer).id;
    draft.mayExist = false;
  } catch (error) {
    if (isRefusal(error)) draft.mayExist = false;
    throw error;
  }
  await context.state.set(NAMESPACE, conversation, { messageId: draft.messageId, nonce: null });
}

/** Discord returns the message if it exists; otherwise a new one takes its place. */
async function openAgain(context: DraftContext, conversation: ConversationKey, draft: Draft): Promise<void> {
  try {
    await open(context, conversation, { draft, text: draft.shown });
  } catch (error) {
    context.log.debug('A draft may have been left behind', { conversation, cause: describe(error) });
  }
}

async function change(context: DraftContext, conversation: ConversationKey, { draft, text }: Showing): Promise<void> {
  if (draft.messageId === null) return;
  const body = { content: text, allowed_mentions: NO_PINGS };
  await context.rest.patch(Routes.channelMessage(targetOf(placeOfKey(conversation)), draft.messageId), { body });
}

/** A message assigned to a post may already be that post. */
async function sweep(context: DraftContext): Promise<void> {
  for (const { key, value } of await context.state.list(NAMESPACE)) {
    const conversation = parseKey(key).key;
    if (placeOfKey(conversation).bot !== context.bot) continue;
    const kept = keptSchema.safeParse(value).data;
    if (kept === undefined) await context.state.delete(NAMESPACE, key);
    else if (kept.nonce === null) await remove(context, conversation, kept.messageId);
    else if (context.clock.now() - timeOf(kept.messageId) > GIVEN_MS) await context.state.delete(NAMESPACE, key);
  }
}
