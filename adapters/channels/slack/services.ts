import type { ChannelSink } from '../../../src/adapter-kit.ts';
import type { SlackOptions } from './options.ts';
import type { ChannelIds } from './places/channel-ids.ts';
import type { Places } from './places/places.ts';
import type { Threads } from './places/threads.ts';
import type { Workspace } from './web/workspace.ts';

/** What the parts of the bot in one workspace share. `createSlackBot` makes it once; each part picks what it needs. */
export interface BotServices extends Omit<SlackOptions, 'onRefused'> {
  readonly workspace: Workspace;
  readonly sink: ChannelSink;
  readonly channelIds: ChannelIds;
  readonly places: Places;
  readonly threads: Threads;
  /** Aborted when intake ends, or the bot stops. */
  readonly signal: AbortSignal;
}
