import { idleMsOf } from '../config/directory.ts';
import { estimateParts } from '../context/measure/tokens.ts';
import type { Actors } from '../conversation/actors.ts';
import { createBotGuard } from '../conversation/inbound/bot-guard.ts';
import { type Decision, decide } from '../conversation/inbound/decide.ts';
import { contentOf, type Heard, type InboundHooks, partsOf } from '../conversation/inbound/inbound-hooks.ts';
import { heldNotice, throughPostHooks } from '../conversation/posts/hooked-post.ts';
import type { Outbox } from '../conversation/posts/outbox.ts';
import { unaskedPosts } from '../conversation/posts/unasked-posts.ts';
import { cleanAuthor, cleanParts } from '../conversation/state/clean-parts.ts';
import { failureText } from '../conversation/turn/failure-text.ts';
import { describe, isStrataError } from '../domain/errors.ts';
import { parseKey, placeOf, platformOf } from '../domain/key.ts';
import type { ConversationKey, InboundMessage, Part } from '../domain/message.ts';
import type { Drop, Receipt } from '../ports/channel.ts';
import { POST_HOLD_MS } from '../ports/outbox-store.ts';
import type { Append, Conversation, NewMessage } from '../ports/store.ts';
import type { Channels, Services, TextLog } from '../services.ts';
import { onDisk } from '../util/files/on-disk.ts';

export interface ReceiverOptions {
  readonly services: Services;
  readonly actors: Pick<Actors, 'of' | 'refreshBusy'>;
  readonly outbox: Pick<Outbox, 'deliver'>;
  readonly channels: Channels;
  readonly inbound: InboundHooks;
  /** Logs the text of messages, if the operator enabled it. */
  readonly logText: TextLog;
  /** False before the start and while the bot stops: posts wait for a process that is connected. */
  readonly isPosting: () => boolean;
  readonly drop: (what: Drop) => void;
}

export type Receiver = (message: InboundMessage, edited: readonly Part[] | null) => Promise<Receipt>;

/** Applies the hooks to a message, including an edit that arrived before it, and stores the result. */
export function createReceiver(options: ReceiverOptions): Receiver {
  const { services, inbound } = options;
  const { agents, clock } = services;
  const guard = createBotGuard();
  return async (given, edited) => {
    const message = edited === null ? given : { ...given, ...contentOf(edited) };
    const { conversation } = message;
    const heard = await inbound.message(message);
    if (heard.kind === 'known') {
      // A redelivery, maybe of a message that is not on the disk yet.
      await onDisk(services.store);
      return duplicate(services, conversation, heard.seq);
    }
    if (heard.kind === 'drop') {
      options.drop({ ...dropOf(message), reason: 'hook', problem: heard.reason });
      return NOT_STORED;
    }
    const decision = decide(message, agents.agentFor(conversation), () =>
      guard.allows(`${placeOf(conversation)} ${message.author.id}`, clock.now()),
    );
    return await store(options, message, { heard, decision });
  };
}

const NOT_STORED: Receipt = { stored: false, willReply: false };

export function dropOf({ conversation, externalId }: InboundMessage): Omit<Drop, 'reason'> {
  const { platform, channel, thread } = parseKey(conversation);
  return { platform, event: 'message', channel: thread ?? channel, externalId, problem: null };
}

function duplicate({ events }: Services, conversation: ConversationKey, seq: number): Receipt {
  events.emit({ kind: 'message.duplicate', conversation, seq });
  return NOT_STORED;
}

/** What the hooks made of a message, and whether it gets a reply. */
interface Decided {
  readonly heard: Exclude<Heard, { kind: 'drop' }>;
  readonly decision: Decision;
}

async function store(options: ReceiverOptions, message: InboundMessage, decided: Decided): Promise<Receipt> {
  const { services, actors, outbox, logText } = options;
  const { conversation } = message;
  const wantsReply = decided.decision.reply && decided.heard.kind === 'keep';
  const answer = await answerTo(options, message, decided);
  // Once: if this process does not hold the posts, another one may take them before they are delivered here.
  const isPosting = options.isPosting();
  const append = {
    conversation,
    audience: message.audience,
    wantsReply,
    now: services.clock.now(),
    message: toNewMessage(message, decided.heard),
    idleExtractMs: idleMsOf(services.agents.agentFor(conversation)),
    ...(answer === null ? {} : rowsOf(options, message, { ...answer, isPosting })),
  };
  const result = await actors.of(conversation).receive(append, (stored) => {
    endTurnsOfOldAudience(actors, stored);
    services.events.emit({ kind: 'message.accepted', conversation, seq: stored.seq, wantsReply });
  });
  if (result.kind === 'duplicate') return duplicate(services, conversation, result.seq);
  logText(conversation, message.author, decided.heard.text);
  if (answer !== null) logText(conversation, null, answer.text);
  if (isPosting) outbox.deliver(conversation, result.posts);
  if (decided.heard.kind === 'failed') reportFailure(services, conversation, { ...decided, seq: result.seq });
  return { stored: true, willReply: wantsReply || (answer?.isPosted ?? false) };
}

/** The first message of a conversation, or under another audience, changes what running turns may show or read. */
function endTurnsOfOldAudience(
  actors: ReceiverOptions['actors'],
  { seq, conversation }: { readonly seq: number; readonly conversation: Conversation },
) {
  if (conversation.audienceFrom === seq) actors.refreshBusy();
  else if (seq === 1) actors.refreshBusy(placeOf(conversation.key));
}

interface Answer {
  readonly role: 'assistant' | 'notice';
  readonly text: string;
  readonly isPosted: boolean;
}

/** The hooks' answer to the message, or their failure. Null if a turn should answer, or if no answer is wanted. */
async function answerTo(
  options: ReceiverOptions,
  { conversation: key, audience }: InboundMessage,
  { heard, decision }: Decided,
): Promise<Answer | null> {
  const mayAnswer = decision.reply || decision.reason === 'not addressed';
  if (heard.kind === 'failed') return decision.reply ? failure(options, key) : null;
  if (heard.kind !== 'answer' || !mayAnswer) return null;
  try {
    const posting = { conversation: { key, audience }, text: heard.answer, isReply: true };
    const result = await throughPostHooks(options.services, posting);
    return result.kind === 'post'
      ? { role: 'assistant', text: result.text.trim(), isPosted: true }
      : { role: 'notice', text: heldNotice(result.reason), isPosted: false };
  } catch (error) {
    if (!isStrataError(error, 'HOOK_FAILED')) throw error;
    options.services.events.emit({ kind: 'error.internal', conversation: key, message: describe(error) });
    return failure(options, key);
  }
}

function failure({ services, channels }: ReceiverOptions, key: ConversationKey): Answer {
  const channelOf = (of: ConversationKey) => channels.get(platformOf(of)) ?? null;
  return { role: 'notice', text: failureText({ services, channelOf }, { key }, 'hook'), isPosted: true };
}

function rowsOf(
  { services, channels }: ReceiverOptions,
  { conversation, externalId }: InboundMessage,
  { role, text, isPosted, isPosting }: Answer & { readonly isPosting: boolean },
): Pick<Append, 'answer' | 'posts'> {
  const now = services.clock.now();
  const content = cleanParts([{ kind: 'text', text }]);
  const about = { externalId: null, author: null, replyTo: null, mentions: [], at: now };
  const answer = { ...about, role, parts: content, tokens: role === 'notice' ? 0 : estimateParts(content) };
  const bodies = isPosted ? (channels.get(platformOf(conversation))?.split(text) ?? []) : [];
  const rows = unaskedPosts(bodies, { id: services.random.id(), replyTo: externalId, now });
  return { answer, posts: { rows, heldUntil: isPosting ? now + POST_HOLD_MS : 0 } };
}

function reportFailure(
  { events }: Services,
  conversation: ConversationKey,
  { heard, decision, seq }: Decided & { readonly seq: number },
): void {
  if (heard.kind !== 'failed') return;
  const { message } = heard;
  if (decision.reply) events.emit({ kind: 'turn.failed', conversation, readUpto: seq, reason: 'hook', message });
  else events.emit({ kind: 'error.internal', conversation, message });
}

/** As many as Discord allows. Each statement is compared with the names of all of them. */
const MAX_MENTIONS = 100;

function firstPeople(mentions: InboundMessage['mentions']): InboundMessage['mentions'] {
  const people = new Map(mentions.map((person) => [person.id, person]));
  return [...people.values()].slice(0, MAX_MENTIONS);
}

function toNewMessage(message: InboundMessage, said: Decided['heard']): NewMessage {
  const content = cleanParts(partsOf(said));
  return {
    externalId: message.externalId,
    role: 'user',
    author: cleanAuthor(message.author),
    parts: content,
    replyTo: message.replyTo,
    mentions: firstPeople(message.mentions).map(cleanAuthor),
    tokens: estimateParts(content),
    at: message.at,
  };
}
