import {
  type Author,
  authorLabel,
  BOT_LABEL,
  type ConversationKey,
  cutAt,
  type DropReason,
  describe,
  type HeardBy,
  threadNote,
} from '../../../../src/adapter-kit.ts';
import { within } from '../../shared/within.ts';
import { isOwn, isSaid, type MessageContext, mentionsBot, wholeText } from '../map.ts';
import { isServed } from '../places/access.ts';
import { isDirect, type KeyPlace, keyOf, type Place, threadOf } from '../places/place.ts';
import { heardIn, isForeign, nameOf } from '../places/places.ts';
import type { BotServices } from '../services.ts';
import {
  fileSchema,
  historySchema,
  type WireEventMessage,
  type WireFile,
  type WireMessage,
  type WireUser,
} from '../wire.ts';
import { completeFiles, type FileOptions, readFiles, withFileNames } from './files.ts';
import type { FirstMessages } from './first-messages.ts';
import type { EditedMessage, NewMessage } from './incoming.ts';
import { keptText, withKeptQuotes } from './quotes.ts';
import { channelIn, type UserContexts } from './user-context.ts';

export interface ContextOptions
  extends Pick<BotServices, 'sink' | 'workspace' | 'settings' | 'places' | 'channelIds' | 'clock' | 'log'> {
  readonly firstMessages: FirstMessages;
  readonly userContexts: UserContexts;
  readonly files: FileOptions;
}

/** How long a message waits for Slack's data about its thread and its files. */
const LOOKUP_MS = 800;

/** Where to store a message, without asking Slack. */
export function placeFor(
  { settings, workspace }: Pick<ContextOptions, 'settings' | 'workspace'>,
  message: WireEventMessage,
): KeyPlace {
  const { channel: channelId, channel_type: type, ts, thread_ts: threadTs } = message;
  const said = {
    channelId,
    ts,
    threadTs: threadTs ?? null,
    isDirect: isDirect(channelId, type),
    mentionsBot: mentionsBot(message, workspace),
  };
  return { teamId: workspace.teamId, channelId, threadTs: threadOf(said, settings) };
}

/** Why a message is not stored, as far as the message itself shows; null if it may be stored. */
export function refusalOf(
  options: Pick<ContextOptions, 'settings' | 'workspace'>,
  message: WireEventMessage,
): DropReason | null {
  const { settings, workspace } = options;
  if (!isSaid(message)) return 'note';
  if (isOwn(message, workspace)) return 'own';
  if (isBot(message) && !settings.hear_bots) return 'bot';
  const visitor = { channelId: message.channel, userId: idOf(message), isOutsider: false };
  return isServed(settings, visitor) ? null : 'unserved';
}

/** `isFirst`: the message is the first one of its conversation. */
export type FoundContext =
  | { readonly kind: 'kept'; readonly context: MessageContext; readonly isFirst: boolean }
  | { readonly kind: 'dropped'; readonly reason: DropReason };

/**
 * Requests all data about a message concurrently, each with its own time limit. Rejects only if the store fails, and not
 * before the beginning is claimed: afterwards the claim can be released.
 */
export async function contextOf(options: ContextOptions, incoming: NewMessage | EditedMessage): Promise<FoundContext> {
  const { message } = incoming;
  const isLive = incoming.kind === 'message' && incoming.later === null;
  const where = placeFor(options, message);
  const conversation = keyOf(where);
  const asked = beginningOf(options, incoming, where);
  const speaking = speakerOf(options, message);
  const [speaker, readers, names, files, beginning, viewed] = await Promise.all([
    speaking,
    readersOf(options, incoming, speaking),
    options.places.namesFor(message, message.channel),
    filesOf(options, message.files ?? []),
    asked,
    isLive ? viewedBy(options, message, conversation) : null,
  ]).finally(() => asked.catch(() => undefined));
  const refusal = refusalBy(options, message.channel, speaker);
  if (refusal !== null) return { kind: 'dropped', reason: refusal };
  const missed = incoming.kind === 'message' ? (incoming.later?.note ?? null) : null;
  const notes = [missed, viewed, beginning.note].filter((note) => note !== null);
  const author = named(speaker);
  const place: Place = { ...where, ...readers };
  const { attachments, texts: fileTexts } = files;
  const context = { conversation, place, self: options.workspace, names, author, attachments, fileTexts, notes };
  return { kind: 'kept', context, isFirst: beginning.isFirst };
}

/** Slackbot posts what anyone asks it to, such as reminders, but Slack lists it as a person. */
const SLACKBOT = 'USLACKBOT';

function isBot({ bot_id: botId, subtype, user }: WireMessage): boolean {
  return Boolean(botId) || subtype === 'bot_message' || user === SLACKBOT;
}

function idOf({ user, bot_id: botId }: WireMessage): string {
  return user ?? botId ?? 'unknown';
}

interface Speaker {
  readonly author: Author;
  /** From another workspace, in a shared channel. */
  readonly isOutsider: boolean;
}

type Known = Pick<ContextOptions, 'workspace' | 'settings' | 'places'>;

/** Who wrote a message, as the bot names them. */
export async function authorOf(options: Known, message: WireMessage): Promise<Author> {
  return named(await speakerOf(options, message));
}

async function speakerOf(options: Known, message: WireMessage): Promise<Speaker> {
  const { user: userId, username, bot_profile: profile } = message;
  const id = idOf(message);
  const known = userId ? await personOf(options, message, userId) : null;
  const name = username || (isBot(message) ? profile?.name : null) || nameOf(known) || id;
  const author: Author = { id, name, kind: isBot(message) || known?.is_bot ? 'bot' : 'person' };
  return { author, isOutsider: isOutsider(options, message, known) };
}

/** How long a message waits to be dropped. */
const DECISIVE_MS = 10_000;

/** In an organization, only Slack's directory tells colleagues from outsiders, so a message of either waits longer. */
async function personOf(options: Known, message: WireMessage, userId: string): Promise<WireUser | null> {
  const { places, settings } = options;
  const known = await places.user(userId);
  if (known !== null || settings.outsiders || !isOutsider(options, message, known)) return known;
  return await places.user(userId, { waitMs: DECISIVE_MS });
}

/** A message usually names its author's workspace; otherwise Slack's directory does. */
function isOutsider(
  { workspace }: Pick<ContextOptions, 'workspace'>,
  { user_team: userTeam, source_team: sourceTeam, team }: WireMessage,
  known: WireUser | null,
): boolean {
  const home = userTeam ?? sourceTeam ?? team ?? known?.team_id;
  return isForeign(known, { home, own: workspace.teamId });
}

function refusalBy(
  { settings }: ContextOptions,
  channelId: string,
  { author, isOutsider }: Speaker,
): DropReason | null {
  if (author.kind === 'bot' && !settings.hear_bots) return 'bot';
  return isServed(settings, { channelId, userId: author.id, isOutsider }) ? null : 'unserved';
}

/** With a longer name, the remark would be cut off in labels. */
const MAX_OUTSIDER_NAME = 40;

function named({ author, isOutsider }: Speaker): Author {
  if (!isOutsider) return author;
  return { ...author, name: `${cutAt(author.name, MAX_OUTSIDER_NAME)} (of another workspace)` };
}

/**
 * A channel shared with another workspace is not public, whatever else is known about it. Outsiders can only be in such a
 * channel, and no event tells that one was shared within an organization. The event of a mention does not show a type.
 */
async function readersOf(
  { places }: ContextOptions,
  { message, isShared }: NewMessage | EditedMessage,
  speaking: Promise<Speaker>,
): Promise<HeardBy> {
  const { channel: id, channel_type: type } = message;
  if (isShared && !isDirect(id, type)) return { audience: 'private' };
  return await heardIn(places, { id, type, isDoubtful: async () => !type || (await speaking).isOutsider });
}

async function filesOf({ workspace, files: options, clock }: ContextOptions, files: readonly WireFile[]) {
  const { web } = workspace;
  const askFor = async (file: string): Promise<WireFile> => {
    const answer = await within(clock, LOOKUP_MS, web.files.info({ file }));
    return fileSchema.parse(answer?.file);
  };
  return await readFiles(await completeFiles(files, askFor), options);
}

/** What the person is viewing next to a direct message; unknown for messages read later. */
async function viewedBy(
  { userContexts }: ContextOptions,
  message: WireEventMessage,
  conversation: ConversationKey,
): Promise<string | null> {
  if (!isDirect(message.channel, message.channel_type)) return null;
  const userId = idOf(message);
  if (message.app_context) await userContexts.setViewed(userId, channelIn(message.app_context));
  return await userContexts.noteFor(conversation, userId);
}

async function beginningOf(options: ContextOptions, incoming: NewMessage | EditedMessage, where: KeyPlace) {
  const { firstMessages } = options;
  const conversation = keyOf(where);
  const { ts } = incoming.message;
  const isEdit = incoming.kind === 'edit';
  const root = isEdit ? null : (incoming.later?.root ?? null);
  const first = isEdit ? await firstMessages.of(conversation) : await firstMessages.claim(conversation, ts);
  const isFirst = first === ts;
  const isReply = where.threadTs !== null && where.threadTs !== ts;
  if (!isFirst || !isReply) return { isFirst, note: null };
  return { isFirst, note: await within(options.clock, LOOKUP_MS, rootNote(options, where, root)) };
}

async function readRoot(
  { workspace }: ContextOptions,
  { channelId, threadTs }: Pick<KeyPlace, 'channelId' | 'threadTs'>,
): Promise<WireMessage | null> {
  const answer = await workspace.web.conversations.replies({ channel: channelId, ts: threadTs ?? '', limit: 1 });
  return historySchema.parse(answer).messages.find(({ ts }) => ts === threadTs) ?? null;
}

/** The first message of a thread is put before the first stored one, unless the bot has stored it there. */
async function rootNote(options: ContextOptions, where: KeyPlace, known: WireMessage | null): Promise<string | null> {
  const { channelId, threadTs } = where;
  const conversation = keyOf(where);
  try {
    const root = known ?? (await readRoot(options, { channelId, threadTs }));
    if (root === null || !isSaid(root)) return null;
    const [names, speaker] = await Promise.all([options.places.namesFor(root, channelId), speakerOf(options, root)]);
    const quotedIn = { conversation, audience: null };
    const shown = wholeText(await withKeptQuotes(options, root, quotedIn), names);
    const kept = await keptText(options, { channelId, ts: root.ts, threadTs }, { quotedIn, shown });
    const words = kept === '' ? '' : withFileNames(kept ?? shown, root);
    const isBots = isOwn(root, options.workspace);
    const { author, isOutsider } = speaker;
    // Messages of people excluded by the access lists are not included either.
    const isHeard = isBots || isServed(options.settings, { channelId, userId: author.id, isOutsider });
    if (words === '' || !isHeard) return null;
    return threadNote(isBots ? BOT_LABEL : authorLabel(named(speaker)), words);
  } catch (error) {
    options.log.debug('The first message of a thread could not be read', { cause: describe(error) });
    return null;
  }
}
