import { type ChannelSink, createRecentMap } from '../../../../src/adapter-kit.ts';
import type { Web } from '../web/web.ts';
import { keyOf } from './place.ts';

/** Finds channels whose id changed while the bot was offline, because Slack does not send that event again. */
export interface MovedChannels {
  /** The earlier id of a channel that Slack knows; null if it has had no other. */
  from(id: string): Promise<string | null>;
  /** The new id of a channel that Slack no longer finds; null if the channel is gone. */
  to(id: string): Promise<string | null>;
}

export interface MovedChannelsOptions {
  readonly web: Pick<Web, 'knows'>;
  readonly sink: Pick<ChannelSink, 'conversations'>;
  readonly teamId: string;
  /** The known ids of a channel, this one included. */
  idsOf(id: string): Promise<readonly string[]>;
}

const MAX_CHECKED = 5_000;

/**
 * A private channel that is shared or converted keeps its id except for the first letter, as `G012Y48650T` and
 * `C012Y48650T` in Slack's description of `channel_id_changed`. Slack then finds only the new one. Anyone can write an
 * id, so an earlier id counts only if it has stored conversations.
 */
export function createMovedChannels({ web, sink, teamId, idsOf }: MovedChannelsOptions): MovedChannels {
  const unmoved = createRecentMap<string, true>(MAX_CHECKED);
  const hasStored = async (id: string): Promise<boolean> => {
    for (const channelId of await idsOf(id)) {
      for await (const _ of sink.conversations.within(keyOf({ teamId, channelId, threadTs: null }))) return true;
    }
    return false;
  };
  return {
    async from(id) {
      const earlier = twinOf(id);
      if (earlier === null || unmoved.has(id)) return null;
      if ((await hasStored(earlier)) && (await web.knows(earlier)) === false) return earlier;
      unmoved.set(id, true);
      return null;
    },
    async to(id) {
      const later = twinOf(id);
      return later !== null && (await hasStored(id)) && (await web.knows(later)) === true ? later : null;
    },
  };
}

function twinOf(id: string): string | null {
  if (id.startsWith('G')) return `C${id.slice(1)}`;
  return id.startsWith('C') ? `G${id.slice(1)}` : null;
}
