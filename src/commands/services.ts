import type { WindowProblem } from '../context/fit/window-problem.ts';
import type { ContextReport } from '../context/inspection.ts';
import type { ContextPreview } from '../context/preview.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { Memories } from '../memory/service.ts';
import type { MessageAt } from '../ports/channel.ts';
import type { ContextProfile, MaintainResult } from '../ports/engine.ts';
import type { ModelMessage } from '../ports/model.ts';
import type { ReplyPicture } from '../ports/reply.ts';
import type { Conversation } from '../ports/store.ts';
import type { Summary } from '../ports/summary-store.ts';
import type { Services } from '../services.ts';

/** What the commands need from a bot. */
export interface CommandServices extends Services {
  readonly memories: Memories;
  /** What the next turn would send, and its tokens. Changes nothing. Throws the errors of opening the model. */
  inspect(conversation: Conversation): Promise<ContextReport>;
  /** The agent's settings for the context of the conversation. Throws the errors of opening the model. */
  profile(conversation: Conversation): Promise<ContextProfile>;
  /** Agents whose window is too small for their thresholds, or to answer at all. `isOffline` opens no model. */
  windowProblems(options: { readonly isOffline: boolean }): Promise<readonly WindowProblem[]>;
  /** What the model would see for this text. Stores nothing. Throws the errors of opening the model. */
  preview(conversation: Conversation, text: string): Promise<ContextPreview>;
  /** Makes the maintenance job run now. The instruction is data for its prompt. */
  compact(conversation: Conversation, instruction: string | null): Promise<MaintainResult>;
  /** Requests that a worker rewrites a summary. The wish is data for its prompt. Throws `USAGE`. */
  rewrite(conversation: Conversation, summary: Summary, wish: string): Promise<void>;
  /** The window and how it filled, as a picture; null while the model of the conversation is unknown. */
  picture(conversation: Conversation): Promise<ReplyPicture | null>;
  /** Extracts memories from new messages now. */
  extract(conversation: Conversation): Promise<MaintainResult>;
  /** The address of a message for people; null if its platform has none or is not connected here. */
  linkTo(message: MessageAt): Promise<string | null>;
  /** The messages with the images that only the channel of the conversation can load. */
  loadImages(
    conversation: ConversationKey,
    messages: readonly ModelMessage[],
    options: { readonly signal: AbortSignal },
  ): Promise<readonly ModelMessage[]>;
  /** How commands begin there: `/`, or `/strata ` if they share one slash command. */
  commandPrefix(conversation: ConversationKey): string;
  /** Where data is stored, in words. */
  readonly dataLocation: string;
  /** The address of a conversation in the inspector; null if people cannot open it. */
  inspectorLink(conversation: ConversationKey): string | null;
  /** One sentence if the configuration on disk is invalid and an older one is in use. */
  configTrouble(): string | null;
}
