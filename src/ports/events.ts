import { type ModelFailure, StrataError } from '../domain/errors.ts';
import type { ConversationKey, MemoryId, SummaryId } from '../domain/message.ts';
import type { DropReason } from './channel.ts';
import type { Tier } from './engine.ts';
import type { ChildEndReason } from './engine-children.ts';
import type { CacheLossCause, MaintenanceRun, MaintenanceTrigger, MaintenanceWork } from './journal.ts';
import type { ModelPurpose, TokenCounts } from './model.ts';

/** Why a turn has no answer. */
export type TurnFailure = ModelFailure | 'steps' | 'length' | 'filtered' | 'empty' | 'hook' | 'internal';

/** Every event as one union. Logs, `/status`, metrics and tests read the same stream. */
export type StrataEvent = { readonly at: number; readonly conversation: ConversationKey | null } & (
  | {
      /** The message can be read, but may not be durable yet. The platform gets its acknowledgement when it is. */
      readonly kind: 'message.accepted';
      readonly seq: number;
      readonly wantsReply: boolean;
    }
  /** A redelivery of the message with this `seq`. It changed nothing. */
  | { readonly kind: 'message.duplicate'; readonly seq: number }
  | {
      /** An event of a platform was not stored. */
      readonly kind: 'message.dropped';
      readonly platform: string;
      readonly reason: DropReason;
      readonly event: string;
      readonly channel: string | null;
      readonly externalId: string | null;
      readonly problem: string | null;
    }
  | { readonly kind: 'message.edited'; readonly externalId: string }
  | { readonly kind: 'message.removed'; readonly seqs: readonly number[] }
  /**
   * `readUpto`: the seq of the newest message. The turn reads fewer if its request cannot show all questions that wait;
   * `turn.ended` says how far it read.
   */
  | { readonly kind: 'turn.started'; readonly readUpto: number }
  | {
      readonly kind: 'turn.ended';
      readonly readUpto: number;
      readonly steps: number;
      readonly durationMs: number;
      /** Why the answer is not whole: the length limit or the content filter of the model. Null if it is. */
      readonly cut: 'length' | 'filtered' | null;
    }
  | {
      readonly kind: 'turn.failed';
      readonly readUpto: number;
      readonly reason: TurnFailure;
      readonly message: string;
    }
  /** The result of a turn was discarded: its claim was lost, or what it had read has changed. */
  | { readonly kind: 'turn.superseded'; readonly readUpto: number }
  | {
      /** A turn failed and stored nothing, not even an apology. It is retried. */
      readonly kind: 'turn.delayed';
      readonly message: string;
      readonly failures: number;
      readonly nextAttemptAt: number;
    }
  | {
      readonly kind: 'tool.called';
      /** Null for a call of a tool that was not offered, because models invent names. */
      readonly tool: string | null;
      readonly isError: boolean;
      readonly durationMs: number;
    }
  | {
      /** A conversation that a tool had opened has ended; `conversation` is the one that people see. */
      readonly kind: 'child.ended';
      readonly reason: ChildEndReason;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'model.called';
      readonly purpose: ModelPurpose;
      readonly model: string;
      /** Everything that the provider bills. */
      readonly usage: TokenCounts;
      /** US dollars; null if the price of the model is unknown. */
      readonly costUsd: number | null;
      readonly durationMs: number;
    }
  | {
      /** A request did not find in the provider's cache what the previous one had left there. */
      readonly kind: 'cache.lost';
      readonly model: string;
      readonly cause: CacheLossCause;
      readonly tokens: number;
    }
  | {
      /** A model of an agent was unavailable or overloaded, so the next one was asked. */
      readonly kind: 'model.fallback';
      readonly model: string;
      readonly next: string;
      readonly message: string;
    }
  | {
      /** The provider counted more input tokens than the window has, or far fewer than were sent. */
      readonly kind: 'model.mismatch';
      readonly model: string;
      readonly configuredTokens: number;
      readonly reportedTokens: number;
    }
  /** `chunk`: which post of the message, from 0. */
  | { readonly kind: 'reply.posted'; readonly chunk: number; readonly platformMessageId: string }
  | {
      /** The platform did not accept a post. It is retried. */
      readonly kind: 'reply.delayed';
      readonly chunk: number;
      readonly message: string;
      readonly failures: number;
      readonly nextAttemptAt: number;
    }
  /** Given up: the platform rejected a post permanently, or was unavailable for too long. */
  | { readonly kind: 'reply.failed'; readonly chunk: number; readonly message: string }
  /** The view has reached or left a threshold. `used` and `window` are tokens. */
  | { readonly kind: 'context.tier'; readonly tier: Tier; readonly used: number; readonly window: number }
  | { readonly kind: 'maintenance.requested'; readonly tier: Tier | 'manual' | 'gap' | 'idle' }
  | {
      readonly kind: 'maintenance.started';
      readonly work: MaintenanceWork;
      readonly trigger: MaintenanceTrigger;
    }
  | { readonly kind: 'maintenance.ended'; readonly run: MaintenanceRun }
  | {
      readonly kind: 'maintenance.delayed';
      readonly message: string;
      readonly nextAttemptAt: number;
      readonly failures: number;
    }
  | {
      readonly kind: 'gap.opened';
      readonly fromSeq: number;
      readonly toSeq: number;
      readonly reason: 'emergency' | 'overflow';
    }
  | {
      /** Tools and system sections were cut, because they exceed their share of the window. */
      readonly kind: 'context.cut';
      readonly agent: string;
      /** Their keys in `/context`, separated by commas. */
      readonly parts: string;
      /** Estimated tokens of the whole parts, and of what is left of them. */
      readonly wholeTokens: number;
      readonly leftTokens: number;
    }
  | {
      /** The provider's filter refused a request of a turn, which goes on without a part of what it had read. */
      readonly kind: 'context.refused';
      readonly model: string;
      /** `results`: of the tools of the turn. `messages`: those before the one that asks. `summaries`: these as well. */
      readonly leftOut: 'results' | 'messages' | 'summaries';
      /** Refused calls of the turn; 0 if an earlier turn has found out. */
      readonly refusals: number;
    }
  | {
      /** How many different names, numbers, links, dates and promises of its messages a new summary keeps. */
      readonly kind: 'summary.written';
      readonly summaryId: SummaryId;
      readonly specifics: number;
      readonly kept: number;
    }
  | { readonly kind: 'stack.condensed'; readonly summaryId: SummaryId; readonly level: number; readonly parts: number }
  | { readonly kind: 'memory.saved'; readonly ids: readonly MemoryId[] }
  /** A statement that a model proposed was not saved. */
  | { readonly kind: 'memory.refused'; readonly reason: string }
  | { readonly kind: 'memory.forgotten'; readonly ids: readonly MemoryId[] }
  /** A model failed repeatedly, and is not called until `untilAt`. */
  | { readonly kind: 'breaker.opened'; readonly model: string; readonly untilAt: number; readonly message: string }
  | { readonly kind: 'breaker.closed'; readonly model: string }
  | { readonly kind: 'queue.trouble'; readonly message: string }
  | {
      readonly kind: 'config.changed';
      readonly file: string;
      /** Sections of the file that differ and apply only after a restart; empty if there are none. */
      readonly waitsForRestart: string;
    }
  | { readonly kind: 'config.rejected'; readonly file: string; readonly message: string }
  | {
      /** Something blocked the event loop between the events `after` and `before`; null where no event is known. */
      readonly kind: 'loop.stalled';
      readonly durationMs: number;
      /** CPU time of this thread during the block. A small value means that a system call or the machine was slow. */
      readonly cpuMs: number;
      readonly after: EventKind | null;
      readonly before: EventKind | null;
    }
  /** The store has not confirmed a message or a reply for this long. It is neither acknowledged nor posted before. */
  | { readonly kind: 'store.stalled'; readonly durationMs: number }
  /** Something failed that no other event covers. */
  | { readonly kind: 'error.internal'; readonly message: string }
);

/** The names of all events, such as `turn.failed`. */
export type EventKind = StrataEvent['kind'];
/** The events of one kind. */
export type EventOf<Kind extends EventKind> = Extract<StrataEvent, { kind: Kind }>;
/** Distributes over the union, so that each variant keeps its own fields. */
export type NewEvent = StrataEvent extends infer Event
  ? Event extends StrataEvent
    ? Omit<Event, 'at'>
    : never
  : never;

/** The return value is ignored, except that a rejected promise is logged. */
type Listener = (event: StrataEvent) => unknown;

/** Emits the events of a bot to listeners. */
export interface Events {
  emit(event: NewEvent): void;
  /**
   * Calls the listener synchronously for every event, in order. A listener that throws or rejects is logged and does
   * not affect the others. Returns a function that unsubscribes. Throws `USAGE` if it gets something else than a
   * function, such as the name of an event.
   *
   * @example
   * bot.events.on((event) => {
   *   if (event.kind === 'turn.failed') console.error(event.conversation, event.message);
   * });
   */
  on(listener: Listener): () => void;
}

const ONE_FUNCTION =
  'events.on needs one function, which receives every event: events.on((event) => …). Its kind is in event.kind.';

/** Events within this process. */
export function createEvents(options: {
  readonly now: () => number;
  readonly onListenerError: (error: unknown) => void;
}): Events {
  const listeners = new Set<Listener>();
  return {
    emit(event) {
      const stamped: StrataEvent = { ...event, at: options.now() };
      for (const listener of listeners) notify(listener, stamped, options.onListenerError);
    },
    on(listener) {
      // The compiler tells only programs in TypeScript.
      if (typeof listener !== 'function') throw new StrataError('USAGE', { problem: ONE_FUNCTION });
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function notify(listener: Listener, event: StrataEvent, onError: (error: unknown) => void): void {
  try {
    const result = listener(event);
    if (result instanceof Promise) result.catch(onError);
  } catch (error) {
    onError(error);
  }
}
