import type { BotServices } from '../services.ts';
import type { AudienceWatch } from './audience.ts';
import type { FirstConnections } from './first-connections.ts';
import type { Leaving } from './leaving.ts';
import type { Later } from './receive.ts';
import type { Unread } from './unread.ts';

export interface CatchUpContext extends BotServices {
  readonly audiences: AudienceWatch;
  readonly unread: Unread;
  readonly firstConnections: FirstConnections;
  /** Null if data of deleted places is kept. */
  readonly leaving: Leaving | null;
  /** Handles a message that was read. */
  readonly later: () => Later;
}
