import {
  type Author,
  type ChannelSink,
  type ConversationKey,
  describe,
  type InboundMessage,
  type Log,
  type StateStore,
} from '../../../../src/index.ts';
import { isServed } from '../access.ts';
import { isOwn, isSaid, type MapContext, mentionsBot, toInbound, toParts, wordsOf } from '../map.ts';
import { conversationsOf, isDirect, keyOf, type Place, threadOf } from '../place.ts';
import { audienceOf, nameOf, type Places } from '../places.ts';
import type { SlackSettings } from '../settings.ts';
import type { Threads } from '../threads.ts';
import {
  changedSchema,
  deletedSchema,
  eventMessageSchema,
  fileSchema,
  historySchema,
  type WireBody,
  type WireEventMessage,
  type WireMessage,
  type WireUser,
} from '../wire.ts';
import type { Workspace } from '../workspace.ts';
import type { AudienceWatch } from './audience.ts';
import { completeFiles, type FileOptions, readFiles } from './files.ts';
import type { Beginnings } from './first-messages.ts';
import { channelIn, type Viewing } from './user-context.ts';

export interface ReceiverParts {
  readonly workspace: Workspace;
  readonly settings: SlackSettings;
  readonly sink: ChannelSink;
  readonly places: Places;
  readonly audiences: AudienceWatch;
  readonly beginnings: Beginnings;
  readonly threads: Threads;
  readonly viewing: Viewing;
  readonly files: FileOptions;
  readonly state: StateStore;
  readonly log: Log;
  /** The first message of a conversation was stored. */
  readonly onBegan: (message: InboundMessage) => void;
  /** Resolves when what was missed in the channel has been read: nothing may overtake it. */
  readonly caughtUp: (channelId: string) => Promise<void>;
}

/** Hands messages, edits and deletions to the bot. Each promise resolves when the event is durable, and rejects when it is not. */
export interface Receiver {
  event(event: unknown, body: WireBody): Promise<void>;
  /** One message that was read later. */
  message(message: WireEventMessage, options: { readonly isPast: boolean }): Promise<void>;
  /** What became of one meanwhile. */
  edited(message: WireEventMessage): Promise<void>;
  removed(channelId: string, ts: string): Promise<void>;
}

export function createReceiver(parts: ReceiverParts): Receiver {
  const lanes = createKeyedQueue();
  const inLane = (channelId: string, work: () => Promise<void>): Promise<void> =>
    lanes(channelId, async () => {
      await parts.caughtUp(channelId);
      await work();
    });
  return {
    async event(event, body) {
      if (body.event.subtype === 'message_changed') {
        const changed = changedSchema.parse(event);
        return await inLane(changed.channel, () => receiveEdit(parts, changed, body));
      }
      if (body.event.subtype === 'message_deleted') {
        const { channel, deleted_ts: ts, previous_message: before } = deletedSchema.parse(event);
        return await inLane(channel, () => remove(parts, channel, { ts, threadTs: before?.thread_ts ?? null }));
      }
      const message = eventMessageSchema.parse(event);
      if (CONVERTED.has(message.subtype ?? '')) {
        return await inLane(message.channel, () => parts.audiences.changed(message.channel));
      }
      await inLane(message.channel, () => receiveMessage(parts, { message, body, isPast: false }));
    },
    message: (message, { isPast }) => receiveMessage(parts, { message, body: null, isPast }),
    edited: (message) => receiveEdit(parts, { channel: message.channel, message }, null),
    removed: (channelId, ts) => remove(parts, channelId, { ts, threadTs: null }),
  };
}

/** Who can read a channel has changed. */
const CONVERTED = new Set(['channel_convert_to_private', 'channel_convert_to_public']);

interface Incoming {
  readonly message: WireEventMessage;
  readonly body: WireBody | null;
  readonly isPast: boolean;
}

async function receiveMessage(parts: ReceiverParts, { message, body, isPast }: Incoming): Promise<void> {
  const { settings, sink, workspace } = parts;
  if (!isSaid(message) || isOwn(message, workspace)) return;
  const { author, isOutsider } = await speakerOf(parts, message);
  if (author.kind === 'bot' && !settings.hear_bots) return;
  if (!isServed(settings, { channelId: message.channel, userId: author.id, isOutsider })) return;
  const place = await placeFor(parts, message, body);
  const conversation = keyOf(place);
  const context = await contextOf(parts, { message, place, conversation, author: named(author, isOutsider) });
  const viewed = body === null ? null : await viewedBy(parts, { message, conversation, userId: author.id });
  const notes = [viewed, ...context.notes].filter((note) => note !== null);
  const inbound = toInbound(message, { ...context, notes, isPast });
  if (inbound === null) return;
  const isFirst = (await parts.beginnings.of(conversation, message.ts)) === message.ts;
  await parts.audiences.told(conversation, place.audience);
  await parts.threads.told(conversation, { threadTs: answerThread(parts, message), userId: author.id });
  const { stored } = await sink.message(inbound);
  await parts.beginnings.keep(conversation, message.ts);
  if (isFirst && stored) parts.onBegan(inbound);
}

/** On the agent surface every message of a direct conversation begins a thread; elsewhere it stands alone. */
function answerThread({ settings }: ReceiverParts, message: WireEventMessage): string | null {
  if (message.thread_ts) return message.thread_ts;
  return settings.surface === 'agent' && isDirect(message.channel, message.channel_type) ? message.ts : null;
}

function named(author: Author, isOutsider: boolean): Author {
  return isOutsider ? { ...author, name: `${author.name} (of another workspace)` } : author;
}

/** What the person looks at beside a direct message; of messages that are read later nobody knows. */
async function viewedBy(
  { viewing }: ReceiverParts,
  of: { readonly message: WireEventMessage; readonly conversation: ConversationKey; readonly userId: string },
): Promise<string | null> {
  const { message, conversation, userId } = of;
  if (!isDirect(message.channel, message.channel_type)) return null;
  if (message.app_context) await viewing.told(userId, channelIn(message.app_context));
  return await viewing.noteFor(conversation, userId);
}

interface Speaker {
  readonly author: Author;
  /** Of another workspace, met in a shared channel. */
  readonly isOutsider: boolean;
}

async function speakerOf({ places, workspace }: ReceiverParts, message: WireMessage): Promise<Speaker> {
  const { user: userId, bot_id: botId, username, bot_profile: profile } = message;
  const isBot = Boolean(botId) || message.subtype === 'bot_message';
  const id = userId ?? botId ?? 'unknown';
  const known = userId ? await places.user(userId) : null;
  const name = username || (isBot ? profile?.name : null) || nameOf(known) || id;
  const author: Author = { id, name, kind: isBot || known?.is_bot ? 'bot' : 'person' };
  return { author, isOutsider: isOutside(message, known, workspace.teamId) };
}

/** A message mostly says where its author is at home; else Slack's directory does. */
function isOutside(message: WireMessage, known: WireUser | null, own: string): boolean {
  const { user_team: userTeam, source_team: sourceTeam, team } = message;
  const home = userTeam ?? sourceTeam ?? team ?? known?.team_id;
  return known?.is_stranger === true || (Boolean(home) && home !== own);
}

async function placeFor(parts: ReceiverParts, message: WireEventMessage, body: WireBody | null): Promise<Place> {
  const { settings, workspace, places } = parts;
  const { channel: channelId, channel_type: type, ts, thread_ts: threadTs } = message;
  const direct = isDirect(channelId, type);
  const said = {
    channelId,
    ts,
    threadTs: threadTs ?? null,
    isDirect: direct,
    mentionsBot: mentionsBot(message, workspace),
  };
  const base = { teamId: workspace.teamId, channelId, threadTs: threadOf(said, settings) };
  if (direct) return { ...base, audience: 'dm' };
  if (body?.is_ext_shared_channel) return { ...base, audience: 'private' };
  const channel = await places.channel(channelId);
  // Of a place that cannot be looked at, nothing is told elsewhere.
  return { ...base, audience: channel === null ? 'private' : audienceOf(channel) };
}

interface Read {
  readonly message: WireMessage;
  readonly place: Place;
  readonly conversation: ConversationKey;
  readonly author: Author;
}

async function contextOf(parts: ReceiverParts, read: Read): Promise<Omit<MapContext, 'isPast'>> {
  const { message, place, conversation, author } = read;
  const { web } = parts.workspace;
  const askFor = async (file: string) => fileSchema.parse((await web.files.info({ file })).file);
  const [names, files, root] = await Promise.all([
    parts.places.namesFor(message),
    completeFiles(message.files ?? [], askFor).then((whole) => readFiles(whole, parts.files)),
    rootNote(parts, { conversation, place, ts: message.ts }),
  ]);
  const { attachments, texts: fileTexts } = files;
  const notes = root === null ? [] : [root];
  return { conversation, place, self: parts.workspace, names, author, attachments, fileTexts, notes };
}

/** What a thread is about stands before its first message, when the bot had not kept it there. */
async function rootNote(
  parts: ReceiverParts,
  of: { readonly conversation: ConversationKey; readonly place: Place; readonly ts: string },
): Promise<string | null> {
  const { threadTs, channelId } = of.place;
  if (threadTs === null || threadTs === of.ts) return null;
  if ((await parts.beginnings.of(of.conversation, of.ts)) !== of.ts) return null;
  try {
    const { web } = parts.workspace;
    const answer = await web.conversations.replies({ channel: channelId, ts: threadTs, limit: 1 });
    const root = historySchema.parse(answer).messages.find(({ ts }) => ts === threadTs);
    if (root === undefined || !isSaid(root)) return null;
    const words = wordsOf(root, await parts.places.namesFor(root));
    const { author, isOutsider } = await speakerOf(parts, root);
    const isBots = isOwn(root, parts.workspace);
    // Of people whom the lists keep out nothing is read along either.
    const isHeard = isBots || isServed(parts.settings, { channelId, userId: author.id, isOutsider });
    if (words === '' || !isHeard) return null;
    const { name } = isBots ? { name: 'the bot' } : named(author, isOutsider);
    return `[the thread is about this message of ${name}]\n${words}`;
  } catch (error) {
    parts.log.debug('What a thread is about could not be read', { cause: describe(error) });
    return null;
  }
}

async function receiveEdit(
  parts: ReceiverParts,
  { channel, message, previous_message: before }: ReturnType<typeof changedSchema.parse>,
  body: WireBody | null,
): Promise<void> {
  const { ts, thread_ts: threadTs } = message;
  if (message.subtype === 'tombstone') return await remove(parts, channel, { ts, threadTs: threadTs ?? null });
  // Without a new time of editing it is Slack's own change: a preview, a reply counted.
  if (!message.edited || message.edited.ts === before?.edited?.ts) return;
  if (!isSaid(message) || isOwn(message, parts.workspace)) return;
  const { author, isOutsider } = await speakerOf(parts, message);
  if (!isServed(parts.settings, { channelId: channel, userId: author.id, isOutsider })) return;
  const place = await placeFor(parts, { ...message, channel }, body);
  const context = await contextOf(parts, { message, place, conversation: keyOf(place), author });
  const at = Math.round(Number(message.edited.ts) * 1000);
  const content = toParts(message, context);
  for (const conversation of conversationsOf(parts.workspace.teamId, said(channel, ts, threadTs ?? null))) {
    await parts.sink.edited({ conversation, externalId: ts, parts: content, at });
  }
}

function said(channelId: string, ts: string, threadTs: string | null) {
  return { channelId, ts, threadTs };
}

async function remove(
  { sink, workspace }: ReceiverParts,
  channelId: string,
  { ts, threadTs }: { readonly ts: string; readonly threadTs: string | null },
): Promise<void> {
  for (const conversation of conversationsOf(workspace.teamId, { channelId, ts, threadTs })) {
    await sink.removed({ conversation, externalIds: [ts] });
  }
}

/** One piece of work after the other in each lane, the lanes side by side. A failure is its own caller's. */
function createKeyedQueue(): (name: string, work: () => Promise<void>) => Promise<void> {
  const ends = new Map<string, Promise<void>>();
  return (name, work) => {
    const own = (ends.get(name) ?? Promise.resolve()).then(work);
    const end = own.catch(() => undefined);
    ends.set(name, end);
    end.then(() => ends.get(name) === end && ends.delete(name)).catch(() => undefined);
    return own;
  };
}
