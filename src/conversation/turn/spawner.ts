import type { ConversationKey } from '../../domain/message.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import type { UsageRow } from '../../ports/journal.ts';
import type { QuotedEntries } from '../../ports/sections.ts';
import type { Claim, Conversation } from '../../ports/store.ts';
import type { ToolContext } from '../../tools/define.ts';
import type { ChildAnswer, ChildTask } from '../../tools/spawn.ts';
import type { TurnBlobs } from '../../tools/turn-blobs.ts';

/** Opens child conversations for the tools of a turn. */
export interface Spawner {
  spawn(parent: ParentCall, task: ChildTask): Promise<ChildAnswer>;
}

/** A tool call that may open a child. */
export interface ParentCall {
  /** The conversation of the turn; `context` names the one that people see. */
  readonly key: ConversationKey;
  readonly claim: Claim;
  readonly profile: ContextProfile;
  /** Name of the tool. */
  readonly tool: string;
  readonly context: Omit<ToolContext, 'spawn'>;
  readonly budget: ChildBudget;
  /** The n-th child of this call, the same if the turn runs again. */
  readonly ordinal: number;
  /** Rejects if the turn may not continue, for example because a message was deleted. */
  check(): Promise<unknown>;
  /** Called with messages of other conversations that the child was shown: the turn may repeat them. */
  onQuoted(quotes: readonly QuotedEntries[]): void;
}

/** Counts the children of one turn, and theirs. */
export interface ChildBudget {
  children: number;
}

/** What differs in the turns of a child. */
export interface ChildTurn {
  /** The long results of the turn that opened it, which keep those of the child too. */
  readonly blobs: TurnBlobs | undefined;
  readonly budget: ChildBudget;
  /** The conversation that people see pays for its calls. */
  readonly payer: Pick<Conversation, 'id' | 'key'>;
  /** Called before each request, with what the calls of the turn have cost. Throws `CHILD_LIMIT`. */
  mayAsk(usage: readonly UsageRow[]): void;
  /** The parent's context for a tool call of the child. */
  contextOf(own: Omit<ToolContext, 'spawn'>): Omit<ToolContext, 'spawn'>;
}
