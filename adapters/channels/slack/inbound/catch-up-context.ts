import type { ConversationKey } from '../../../../src/adapter-kit.ts';
import type { BotServices } from '../services.ts';
import type { WireEventMessage } from '../wire.ts';
import type { AudienceWatch } from './audience.ts';
import type { Take } from './take.ts';

export interface CatchUpContext
  extends Pick<BotServices, 'workspace' | 'settings' | 'channelIds' | 'sink' | 'state' | 'clock' | 'log' | 'signal'> {
  readonly audiences: Pick<AudienceWatch, 'review'>;
  /** How often a request is tried. Default: for about twenty seconds. */
  readonly attempts?: number;
  readonly take: Take;
  /** Posts in a conversation how many messages were left out. Returns at once; the same gap is reported only once. */
  leftOut(gap: LeftOut): void;
}

export interface LeftOut {
  readonly conversation: ConversationKey;
  readonly count: number;
  /** The oldest message to read. */
  readonly ts: string;
}

export interface Missed {
  readonly ts: string;
  /** The newest reply in its thread. */
  readonly latest: string | null;
  readonly message: WireEventMessage;
}

export type Pace = () => Promise<void>;
