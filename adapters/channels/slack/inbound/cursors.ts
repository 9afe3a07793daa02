import type { ChannelSink, ConversationKey, Cursor } from '../../../../src/index.ts';
import { PLATFORM, placeOfKey } from '../place.ts';

/** The cursors of one workspace. All workspaces that ask at the same time, after a connection, share one question. */
export type CursorsOf = (teamId: string) => Promise<readonly Cursor[]>;

export function createCursors(sink: Pick<ChannelSink, 'cursors'>): CursorsOf {
  let asking: Promise<ReadonlyMap<string, readonly Cursor[]>> | null = null;
  const ask = async () => {
    try {
      return Map.groupBy(await sink.cursors(PLATFORM), ({ conversation }) => teamOfKey(conversation));
    } finally {
      asking = null;
    }
  };
  return async (teamId) => {
    asking ??= ask();
    return (await asking).get(teamId) ?? [];
  };
}

function teamOfKey(conversation: ConversationKey): string {
  return placeOfKey(conversation).teamId;
}
