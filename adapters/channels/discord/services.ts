import type { ChannelSink, Clock, Log } from '../../../src/adapter-kit.ts';
import type { Places } from './places/places.ts';
import type { BotSettings } from './settings.ts';
import type { Rest } from './web/rest.ts';

/** What the parts of one bot share. `createDiscordBot` makes it once; each part picks what it needs. */
export interface BotServices {
  /** The name of the bot. */
  readonly bot: string;
  readonly settings: BotSettings;
  readonly sink: ChannelSink;
  readonly rest: Rest;
  readonly places: Places;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the bot stops. */
  readonly signal: AbortSignal;
}
