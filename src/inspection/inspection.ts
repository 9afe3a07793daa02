import type { CommandServices } from '../commands/services.ts';
import { type ConversationQuery, type ConversationView, conversationView } from './conversation.ts';
import { type Findings, findEverywhere } from './find.ts';
import { createGauges } from './gauges.ts';
import { type Health, healthOf } from './health.ts';
import { type ConversationRows, conversationsPage } from './overview.ts';
import { type SummaryQuery, type SummaryView, summaryView } from './summary.ts';
import type { Viewer } from './viewer.ts';

/** What the inspector reads and changes. Every method checks what the viewer may see and do. */
export interface Inspection {
  /** Conversations, newest activity first; `afterId` is the `next` of the previous page. */
  conversations(query: { readonly afterId: number | null }): Promise<ConversationRows>;
  health(): Promise<Health>;
  /** Conversations by name, and messages and memories by their words. */
  find(viewer: Viewer, text: string): Promise<Findings>;
  /** Throws `KEY_INVALID` and `CONVERSATION_UNKNOWN`. */
  conversation(query: ConversationQuery): Promise<ConversationView>;
  /** Throws `NOT_FOUND`, and `COMMAND_FORBIDDEN` if the viewer may not read the text. */
  summary(query: SummaryQuery): Promise<SummaryView>;
}

export function createInspection(parts: CommandServices): Inspection {
  const gauges = createGauges(parts);
  const services = { parts, gauges };
  return {
    conversations: (query) => conversationsPage(services, query),
    health: () => healthOf(parts),
    find: (viewer, text) => findEverywhere(parts, viewer, text),
    conversation: (query) => conversationView(services, query),
    summary: (query) => summaryView(parts, query),
  };
}
