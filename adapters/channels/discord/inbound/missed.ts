import { Routes } from 'discord.js';
import { HOUR_MS, type KeptMessage } from '../../../../src/adapter-kit.ts';
import { unlessAborted } from '../../shared/within.ts';
import { dropMalformed } from '../drops.ts';
import { isSourceDeleted } from '../map.ts';
import { isDeleted, isNotFound, isRefusal, withRetries } from '../web/retry.ts';
import { editedAt, isNewer, isSnowflake, namedSchema, pageSchema, type WireMessage } from '../wire.ts';
import type { CatchUpContext } from './catch-up-context.ts';
import { readMessage } from './packets.ts';

const PAGE = 100;
/** Looking up a message by itself costs a request. */
const MAX_LOOKED_FOR = 50;

/** How many pages before the missed messages are searched for edits and deletions. Each costs a request. */
const MAX_EARLIER_PAGES = 3;

/** The current messages of a channel. */
export interface Stretch {
  /** Everything that was read. */
  readonly listed: Page;
  /** Messages after the newest stored one, oldest first; if there are too many, the newest of them. */
  readonly missed: readonly WireMessage[];
}

/** The newest messages of a channel, without gaps. */
interface Page {
  /** The readable messages, oldest first. */
  readonly messages: readonly WireMessage[];
  /** The oldest id of the page, even of an unreadable message; null if the page is empty. */
  readonly oldest: string | null;
  /** The channel has no earlier messages. */
  readonly isLast: boolean;
  /** The server lists no earlier ones, although it should. */
  readonly isStuck?: boolean;
}

export async function readStretch(context: CatchUpContext, channelId: string, after: string): Promise<Stretch> {
  const bound = context.settings.catch_up.messages;
  const missedIn = ({ messages }: Page) => messages.filter(({ id }) => isNewer(id, after));
  let listed = await fetchPage(context, channelId, null);
  while (!reaches(listed, after) && listed.isStuck !== true && missedIn(listed).length < bound) {
    listed = await withEarlier(context, channelId, listed);
  }
  const missed = missedIn(listed);
  if (!reaches(listed, after) || missed.length > bound) {
    context.log.warn('Too many missed messages; the oldest were left out', { channelId, read: bound });
  }
  return { listed, missed: missed.slice(-bound) };
}

/** Whether all messages after that one are in the page. */
function reaches({ isLast, oldest }: Page, after: string): boolean {
  return isLast || oldest === null || !isNewer(oldest, after);
}

/** The page with the one before it. If that one begins no earlier, the page is stuck. */
async function withEarlier(context: CatchUpContext, channelId: string, page: Page): Promise<Page> {
  const { messages, oldest, isLast } = await fetchPage(context, channelId, page.oldest);
  if (page.oldest !== null && oldest !== null && !isNewer(page.oldest, oldest)) return { ...page, isStuck: true };
  return { messages: [...messages, ...page.messages], oldest: oldest ?? page.oldest, isLast };
}

async function fetchPage(context: CatchUpContext, channelId: string, before: string | null): Promise<Page> {
  const query = new URLSearchParams({ limit: String(PAGE), ...(before === null ? {} : { before }) });
  const items = pageSchema.parse(await readNow(context, Routes.channelMessages(channelId), query));
  const ids = items.flatMap((item) => namedSchema.safeParse(item).data?.id ?? []);
  const messages = items.flatMap((item) => readItem(context, channelId, item));
  return {
    messages: messages.toSorted((one, other) => (isNewer(one.id, other.id) ? 1 : -1)),
    oldest: ids.toSorted((one, other) => (isNewer(one, other) ? 1 : -1))[0] ?? null,
    isLast: items.length < PAGE,
  };
}

/** The library waits for the end of a rate limit even if the signal is aborted, and a stop would wait with it. */
async function readNow(context: CatchUpContext, route: `/${string}`, query?: URLSearchParams): Promise<unknown> {
  const { rest, signal } = context;
  return await withRetries(context, 'read', () =>
    unlessAborted(signal, rest.get(route, { signal, ...(query === undefined ? {} : { query }) })),
  );
}

/** One unreadable message must not block the others. */
function readItem({ sink }: CatchUpContext, channelId: string, item: unknown): readonly WireMessage[] {
  const read = readMessage(item);
  if (read.kind === 'message') return [read.message];
  dropMalformed(sink, 'missed message', { ...read, channel: channelId });
  return [];
}

export interface Changes {
  readonly edited: readonly WireMessage[];
  readonly removed: readonly string[];
}

/** What happened to stored messages while the bot was offline, as far as what can be listed shows it. */
export async function findChanges(
  context: CatchUpContext,
  channelId: string,
  { kept, listed: read }: { readonly kept: readonly KeptMessage[]; readonly listed: Page },
): Promise<Changes> {
  const since = context.clock.now() - context.settings.catch_up.hours * HOUR_MS;
  const looked = kept.filter(({ externalId, at }) => isSnowflake(externalId) && at >= since);
  const [first] = looked;
  const page = first === undefined ? read : await readBackTo(context, channelId, { page: read, id: first.externalId });
  const oldest = page.isLast ? '0' : (page.oldest ?? '0');
  const listed = new Map(page.messages.map((message) => [message.id, message]));
  const isGoneAtSource = ({ externalId }: KeptMessage) => isSourceDeleted(listed.get(externalId) ?? {});
  const edited = looked.flatMap((known) => {
    const message = listed.get(known.externalId);
    if (message === undefined || isSourceDeleted(message)) return [];
    return (editedAt(message) ?? 0) > (known.editedAt ?? 0) ? [message] : [];
  });
  const absent = looked.filter(({ externalId }) => isNewer(externalId, oldest) && !listed.has(externalId));
  const removed = looked.filter(isGoneAtSource).map(({ externalId }) => externalId);
  for (const { externalId } of absent.slice(-MAX_LOOKED_FOR)) {
    const error = await failureOf(context, channelId, externalId);
    // Other servers have error codes of their own. If they list messages, the bot may read the history.
    if (isDeleted(error) || (isNotFound(error) && listed.size > 0)) removed.push(externalId);
  }
  return { edited, removed };
}

/** As many earlier pages as it takes to list that message, within the bound. */
async function readBackTo(
  context: CatchUpContext,
  channelId: string,
  { page: given, id }: { readonly page: Page; readonly id: string },
): Promise<Page> {
  let page = given;
  for (let read = 0; read < MAX_EARLIER_PAGES && !reaches(page, id) && page.isStuck !== true; read += 1) {
    page = await withEarlier(context, channelId, page);
  }
  return page;
}

/** A list may lack messages for other reasons: a bot without permission to read the history gets none. */
async function failureOf(context: CatchUpContext, channelId: string, externalId: string): Promise<unknown> {
  try {
    await readNow(context, Routes.channelMessage(channelId, externalId));
    return null;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return error;
  }
}
