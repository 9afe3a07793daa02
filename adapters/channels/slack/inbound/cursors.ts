import type { Cursor, KeptConversations } from '../../../../src/adapter-kit.ts';
import { PLATFORM, placeOfKey } from '../places/place.ts';

/** The cursors of one workspace. */
export type Cursors = (teamId: string) => KeptConversations['heard'];

/** All workspaces that ask at the same time, after a connection, share one read of the recent conversations. */
export function createCursors(conversations: Pick<KeptConversations, 'heard'>): Cursors {
  let asking: Promise<ReadonlyMap<string, readonly Cursor[]>> | null = null;
  const ask = async (windowMs: number) => {
    try {
      return await byTeam(conversations.heard(PLATFORM, windowMs));
    } finally {
      asking = null;
    }
  };
  return (teamId) =>
    async function* ours(_platform, windowMs) {
      asking ??= ask(windowMs);
      yield* (await asking).get(teamId) ?? [];
    };
}

async function byTeam(cursors: AsyncIterable<Cursor>): Promise<ReadonlyMap<string, readonly Cursor[]>> {
  const teams = new Map<string, Cursor[]>();
  for await (const cursor of cursors) {
    const { teamId } = placeOfKey(cursor.conversation);
    const ours = teams.get(teamId);
    if (ours === undefined) teams.set(teamId, [cursor]);
    else ours.push(cursor);
  }
  return teams;
}
