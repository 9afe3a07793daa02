import { Routes } from 'discord.js';
import type { KeptMessage } from '../../../../src/index.ts';
import { isDeleted, isRefusal, withRetries } from '../retry.ts';
import { isNewer, isSnowflake, messagesSchema, type WireMessage } from '../wire.ts';
import type { CatchUpParts } from './catch-up-parts.ts';

const PAGE = 100;
/** Each message that is looked for by itself costs a request. */
const MAX_LOOKED_FOR = 50;
const HOUR_MS = 3_600_000;

/** What Discord has of a channel now. */
export interface Stretch {
  /** The newest hundred messages, in the order of time. */
  readonly newest: readonly WireMessage[];
  /** Those after the newest that is kept, in the order of time; of more than the bound, the newest. */
  readonly missed: readonly WireMessage[];
}

export async function readStretch(parts: CatchUpParts, channelId: string, after: string): Promise<Stretch> {
  const newest = await fetchPage(parts, channelId, null);
  const bound = parts.settings.catch_up.messages;
  const missed = newest.filter(({ id }) => isNewer(id, after));
  let page = newest;
  while (page.length === PAGE && isNewer(page[0]?.id ?? after, after) && missed.length < bound) {
    page = await fetchPage(parts, channelId, page[0]?.id ?? null);
    missed.unshift(...page.filter(({ id }) => isNewer(id, after)));
  }
  const isWhole = page.length < PAGE || !isNewer(page[0]?.id ?? after, after);
  if (!isWhole || missed.length > bound) {
    parts.log.warn('More was missed than is read; the oldest is left out', { channelId, read: bound });
  }
  return { newest, missed: missed.slice(-bound) };
}

async function fetchPage(
  parts: CatchUpParts,
  channelId: string,
  before: string | null,
): Promise<readonly WireMessage[]> {
  const query = new URLSearchParams({ limit: String(PAGE), ...(before === null ? {} : { before }) });
  const read = () => parts.rest.get(Routes.channelMessages(channelId), { query, signal: parts.signal });
  const page = messagesSchema.parse(await withRetries(parts, 'read', read));
  return page.toSorted((one, other) => (isNewer(one.id, other.id) ? 1 : -1));
}

export interface Changes {
  readonly edited: readonly WireMessage[];
  readonly removed: readonly string[];
}

/** What became of the kept messages while nobody was connected, as far as the newest hundred tell. */
export async function findChanges(
  parts: CatchUpParts,
  channelId: string,
  { kept, newest }: { readonly kept: readonly KeptMessage[]; readonly newest: readonly WireMessage[] },
): Promise<Changes> {
  const since = parts.clock.now() - parts.settings.catch_up.hours * HOUR_MS;
  const oldest = newest.length < PAGE ? '0' : (newest[0]?.id ?? '0');
  const listed = new Map(newest.map((message) => [message.id, message]));
  const looked = kept.filter(({ externalId, at }) => isSnowflake(externalId) && at >= since);
  const edited = looked.flatMap(({ externalId, editedAt }) => {
    const message = listed.get(externalId);
    const isNews = message?.edited_timestamp && Date.parse(message.edited_timestamp) > (editedAt ?? 0);
    return message !== undefined && isNews ? [message] : [];
  });
  const absent = looked.filter(({ externalId }) => isNewer(externalId, oldest) && !listed.has(externalId));
  const removed: string[] = [];
  for (const { externalId } of absent.slice(-MAX_LOOKED_FOR)) {
    if (await isGone(parts, channelId, externalId)) removed.push(externalId);
  }
  return { edited, removed };
}

/** A list may lack messages for other reasons: a bot that may not read the history is given none at all. */
async function isGone(parts: CatchUpParts, channelId: string, externalId: string): Promise<boolean> {
  try {
    await withRetries(parts, 'read', () =>
      parts.rest.get(Routes.channelMessage(channelId, externalId), { signal: parts.signal }),
    );
    return false;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return isDeleted(error);
  }
}
