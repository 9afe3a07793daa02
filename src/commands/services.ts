import type { ContextReport } from '../context/inspection.ts';
import type { ContextPreview } from '../context/preview.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { Memories } from '../memory/service.ts';
import type { MessageAt } from '../ports/channel.ts';
import type { MaintainResult } from '../ports/engine.ts';
import type { Conversation } from '../ports/store.ts';
import type { Services } from '../services.ts';

/** What the commands need of a bot. */
export interface CommandServices extends Services {
  readonly memories: Memories;
  /** What the next turn would be given, and what it costs. Changes nothing. Throws what opening the model throws. */
  inspect(conversation: Conversation): Promise<ContextReport>;
  /** What the model would see if the text were said now. Stores nothing. Throws what opening the model throws. */
  preview(conversation: Conversation, text: string): Promise<ContextPreview>;
  /** Asks the maintenance job to look now. The instruction is data for its prompt. */
  compact(conversation: Conversation, instruction: string | null): Promise<MaintainResult>;
  /** Has what was said since the last look read for memories now. */
  extract(conversation: Conversation): Promise<MaintainResult>;
  /** An address at which people find a message; null where its platform has none, or is not connected here. */
  linkTo(message: MessageAt): Promise<string | null>;
  /** How people begin a command there: `/`, or `/strata ` where all of them are one. */
  commandPrefix(conversation: ConversationKey): string;
  /** Where everything is kept, in words. */
  readonly dataLocation: string;
  /** One sentence when the configuration on disk is broken and an older one is in use. */
  configTrouble(): string | null;
}
