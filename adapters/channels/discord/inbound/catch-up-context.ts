import type { ChannelSink, Clock, Log } from '../../../../src/adapter-kit.ts';
import type { Places } from '../places/places.ts';
import type { Rest } from '../rest.ts';
import type { BotSettings } from '../settings.ts';
import type { AudienceWatch } from './audience.ts';
import type { FirstConnections } from './first-connections.ts';
import type { Leaving } from './leaving.ts';
import type { Later } from './receive.ts';
import type { Unread } from './unread.ts';

export interface CatchUpContext {
  readonly bot: string;
  readonly settings: BotSettings;
  readonly sink: ChannelSink;
  readonly rest: Rest;
  readonly places: Places;
  readonly audiences: AudienceWatch;
  readonly unread: Unread;
  readonly firstConnections: FirstConnections;
  /** Null if data of deleted places is kept. */
  readonly leaving: Leaving | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Handles a message that was read. */
  readonly later: () => Later;
}
