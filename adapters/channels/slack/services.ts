import type { ChannelSink } from '../../../src/adapter-kit.ts';
import type { ChannelIds } from './channel-ids.ts';
import type { SlackOptions } from './options.ts';
import type { Places } from './places.ts';
import type { Threads } from './threads.ts';
import type { Workspace } from './workspace.ts';

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
