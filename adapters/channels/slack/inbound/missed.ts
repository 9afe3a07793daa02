import { z } from 'zod';
import { type Cursor, HOUR_MS } from '../../../../src/adapter-kit.ts';
import { servesPlace } from '../places/access.ts';
import { isDirect, isNewer, PLATFORM, placeOfKey } from '../places/place.ts';
import { retryRepeatable } from '../web/web.ts';
import type { CatchUpContext, Pace } from './catch-up-context.ts';

/** For this long a message may still be on its way to the store while a newer one of another place is stored. */
const MARGIN_S = 300;
const PAGE = 200;

/** A channel in which messages may have been missed. */
export interface MissedChannel {
  readonly id: string;
  /** The newest stored message. */
  readonly newest: string;
  readonly cursors: readonly Cursor[];
  readonly threads: readonly Thread[];
}

export interface Thread {
  readonly ts: string;
  /** The newest message that was read. */
  readonly newest: string;
  readonly cursor: Cursor;
}

/** More are never read: even fewer use up Slack's rate limits for hours. */
const MAX_HEARD = 10_000;

/** Recently active conversations of this workspace, newest first. */
export async function cursorsOf({ sink, workspace, settings }: CatchUpContext): Promise<readonly Cursor[]> {
  const ours: Cursor[] = [];
  for await (const cursor of sink.conversations.heard(PLATFORM, settings.catch_up.hours * HOUR_MS)) {
    if (placeOfKey(cursor.conversation).teamId !== workspace.teamId) continue;
    if (ours.length === MAX_HEARD) break;
    ours.push(cursor);
  }
  return ours;
}

/**
 * Channels with stored messages: direct messages first, then those that owe a reply. `since`: when the gap began, in
 * seconds, if known.
 */
export function heardChannels(
  { settings, clock }: Pick<CatchUpContext, 'settings' | 'clock'>,
  all: readonly Cursor[],
  since: number | null,
): readonly MissedChannel[] {
  const served = all.filter(({ conversation }) => servesPlace(settings, placeOfKey(conversation).channelId));
  const isRecent = ({ at }: Cursor) => clock.now() - at <= settings.catch_up.hours * HOUR_MS;
  const channels = Map.groupBy(served, ({ conversation }) => placeOfKey(conversation).channelId);
  // Messages since the connection may be newer than what was missed.
  const start = (newest: string): string => (since === null ? newest : since.toFixed(6));
  const found = [...channels].map(([id, cursors]) => ({
    id,
    newest: start(cursors[0]?.externalId ?? '0'),
    cursors: cursors.filter(isRecent),
    threads: cursors.filter(isRecent).flatMap((cursor): Thread[] => {
      const { threadTs } = placeOfKey(cursor.conversation);
      return threadTs === null ? [] : [{ ts: threadTs, newest: start(cursor.externalId), cursor }];
    }),
  }));
  const rank = ({ id, cursors }: MissedChannel) =>
    Number(isDirect(id, null)) * 2 + Number(cursors.some(({ owesReply }) => owesReply));
  return found.toSorted((one, other) => rank(other) - rank(one));
}

const pageSchema = z.object({
  channels: z.array(z.object({ id: z.string() })).catch([]),
  response_metadata: z
    .object({ next_cursor: z.string().nullish().catch(null) })
    .nullish()
    .catch(null),
});

/**
 * Channels that the bot is in but has no messages of: it may have been invited or written to since. Most of them are
 * silent, so they are read last, and only as many as a minute's requests allow. A bot without stored data has missed
 * nothing.
 */
export async function unheardChannels(
  context: CatchUpContext,
  { cursors: all, since: begun }: { readonly cursors: readonly Cursor[]; readonly since: number | null },
  pace: Pace,
): Promise<readonly MissedChannel[]> {
  const last = all.reduce((one, { externalId }) => (isNewer(externalId, one) ? externalId : one), '0');
  const newest = begun ?? Number(last);
  if (newest === 0) return [];
  const heard = new Set(all.map(({ conversation }) => placeOfKey(conversation).channelId));
  const found: string[] = [];
  const bound = Math.ceil(context.settings.catch_up.requests_per_minute);
  const used = new Set<string>();
  for (let cursor = ''; !used.has(cursor) && found.length < bound; ) {
    used.add(cursor);
    await pace();
    const page = await readPage(context, cursor);
    const ids = await Promise.all(page.channels.map(({ id }) => context.channelIds.first(id)));
    found.push(...ids.filter((id) => !heard.has(id) && servesPlace(context.settings, id)));
    cursor = page.response_metadata?.next_cursor ?? '';
  }
  const since = (newest - MARGIN_S).toFixed(6);
  return found
    .toSorted((one, other) => Number(isDirect(other, null)) - Number(isDirect(one, null)))
    .slice(0, bound)
    .map((id) => ({ id, newest: since, cursors: [], threads: [] }));
}

async function readPage(context: CatchUpContext, cursor: string): Promise<z.infer<typeof pageSchema>> {
  const { web, userId: user } = context.workspace;
  const range = { types: 'public_channel,private_channel,mpim,im', exclude_archived: true, limit: PAGE };
  const query = { ...range, user, ...(cursor === '' ? {} : { cursor }) };
  return pageSchema.parse(await retryRepeatable(() => web.users.conversations(query), context));
}
