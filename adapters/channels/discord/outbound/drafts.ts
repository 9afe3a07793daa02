import { MessageFlags, RateLimitError, Routes } from 'discord.js';
import {
  type ConversationKey,
  createRecentMap,
  describe,
  type Post,
  parseKey,
  type Random,
  tidyReply,
} from '../../../../src/adapter-kit.ts';
import { createLiveDrafts } from '../../shared/live-drafts.ts';
import { placeOfKey, targetOf } from '../places/place.ts';
import type { BotSettings } from '../settings.ts';
import { isRefusal } from '../web/retry.ts';
import { sentSchema } from '../wire.ts';
import {
  clearNoted,
  createSettler,
  DRAFTS,
  give,
  givenTo,
  type NotedDraftContext,
  noteRequest,
  removeDraft,
  settle,
  sweepGiven,
  sweepNoted,
} from './noted-drafts.ts';
import { NO_PINGS, postMessage, referenceTo } from './post.ts';
import { cut, whole } from './split.ts';

/** Below the limit of a message, so that a closing marker fits. */
const DRAFT_LENGTH = 1900;
const READ_LENGTH = 8 * DRAFT_LENGTH;
const MAX_KNOWN = 5_000;

export interface DraftContext extends NotedDraftContext {
  readonly bot: string;
  readonly random: Random;
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
  take(post: Taking): Promise<string | null>;
  /** The message now is the post. */
  settled(post: Taking): Promise<void>;
  /** Removes a message that cannot become the final text. */
  discard(post: Taking, messageId: string): Promise<void>;
  /** The turn ended without a post. */
  drop(conversation: ConversationKey): void;
  /** Removes drafts left behind by a crash. */
  sweep(): Promise<void>;
}

type Taking = Pick<Post, 'conversation' | 'nonce' | 'replyTo' | 'attempt' | 'body'>;

/** What Discord shows of a draft. */
interface Draft {
  readonly replyTo: string | null;
  /** The same for every attempt to open it, so that a lost response leaves no second message. */
  readonly nonce: string;
  /** Its message was requested, and Discord has neither returned nor refused it. */
  mayExist: boolean;
  /** The texts with which it was requested. */
  readonly texts: string[];
  messageId: string | null;
}

export function createDrafts(context: DraftContext): Drafts {
  const newest = createRecentMap<ConversationKey, string>(MAX_KNOWN);
  const live = createLiveDrafts<Draft>(context, {
    begin: (conversation) => newDraft(context, newest.get(conversation) ?? null),
    textOf: presentable,
    async write({ conversation, shown, text }) {
      if (text !== '') await advance(context, conversation, { draft: shown, text });
      return true;
    },
  });
  const end = async (conversation: ConversationKey): Promise<Draft | null> => {
    const draft = await live.end(conversation);
    if (draft?.mayExist) await openAgain(context, conversation, draft);
    return draft;
  };
  return {
    answers(conversation, externalId) {
      if (!context.settings.streaming) return;
      newest.set(conversation, externalId);
    },
    show: live.show,
    async take(post) {
      const { conversation, replyTo, attempt, body } = post;
      const given = attempt === 1 ? null : await givenTo(context, post);
      if (given !== null) return given;
      const draft = await end(conversation);
      if (draft === null || draft.messageId === null) {
        if (context.settings.streaming) await clearNoted(context, conversation, body.text);
        return null;
      }
      if (draft.replyTo === replyTo) {
        await give(context, post, draft.messageId);
        return draft.messageId;
      }
      await removeDraft(context, conversation, draft.messageId);
      return null;
    },
    settled: createSettler(context),
    async discard(post, messageId) {
      await removeDraft(context, post.conversation, messageId);
      await settle(context, post);
    },
    drop(conversation) {
      const work = async () => {
        const draft = await end(conversation);
        if (draft === null) return;
        if (draft.messageId === null) await clearNoted(context, conversation, null);
        else await removeDraft(context, conversation, draft.messageId);
      };
      work().catch((error: unknown) => context.log.debug('A draft could not be removed', { cause: describe(error) }));
    },
    async sweep() {
      for (const { key } of await context.state.list(DRAFTS)) {
        const conversation = parseKey(key).key;
        // A new draft removes the one before it.
        if (placeOfKey(conversation).bot !== context.bot || live.has(conversation)) continue;
        await sweepNoted(context, conversation);
      }
      await sweepGiven(context);
    },
  };
}

const MAX_NONCE = 25;

function newDraft({ random }: DraftContext, replyTo: string | null): Draft {
  return { replyTo, nonce: random.id().slice(-MAX_NONCE), mayExist: false, texts: [], messageId: null };
}

/** The start of the text with its code blocks closed. Text far beyond it is not read. */
function presentable(text: string): string {
  const tidy = tidyReply(text.slice(0, READ_LENGTH));
  const [first] = cut(tidy.slice(0, 2 * DRAFT_LENGTH), DRAFT_LENGTH);
  if (first === undefined) return '';
  return first.text.length < tidy.length ? `${whole(first).trimEnd()}\n…` : whole(first);
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
  if (draft.texts.length === 0 && !(await clearNoted(context, conversation, null))) {
    throw new Error('An earlier draft is still there');
  }
  if (!draft.texts.includes(text)) draft.texts.push(text);
  await noteRequest(context, conversation, draft);
  const { mayExist } = draft;
  draft.mayExist = true;
  try {
    const answer = await postMessage(context.rest, { channelId: targetOf(placeOfKey(conversation)), body });
    draft.messageId = sentSchema.parse(answer).id;
    draft.mayExist = false;
  } catch (error) {
    if (isRefusal(error)) draft.mayExist = false;
    // The last request was not processed, and says nothing about those before it.
    if (error instanceof RateLimitError) draft.mayExist = mayExist;
    throw error;
  }
  await context.state.set(DRAFTS, conversation, { messageId: draft.messageId, nonce: null });
}

/** Discord returns the message if it exists; otherwise a new one takes its place. */
async function openAgain(context: DraftContext, conversation: ConversationKey, draft: Draft): Promise<void> {
  try {
    await open(context, conversation, { draft, text: draft.texts.at(-1) ?? '' });
  } catch (error) {
    context.log.debug('A draft may have been left behind', { conversation, cause: describe(error) });
  }
}

async function change(context: DraftContext, conversation: ConversationKey, { draft, text }: Showing): Promise<void> {
  if (draft.messageId === null) return;
  const body = { content: text, allowed_mentions: NO_PINGS };
  await context.rest.patch(Routes.channelMessage(targetOf(placeOfKey(conversation)), draft.messageId), { body });
}
