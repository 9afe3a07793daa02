import { describe } from '../../domain/errors.ts';
import type { ConversationKey } from '../../domain/message.ts';
import { yieldToEventLoop } from '../../util/async/event-loop.ts';
import { keepAnsweredBy } from './answered-by.ts';
import { answeringModel, type Ending, type Findings, refusedPartOf } from './end.ts';
import { keepFailure } from './last-failure.ts';
import type { Cut, FailedTurn } from './loop/outcome.ts';
import type { ReplyOptions } from './reply-options.ts';

interface Settled extends Ending {
  /** As stored. */
  readonly text: string;
}

/** Work that starts once the turn is stored. */
export interface AfterReply {
  /** Reports and accounts, after the reply is on its way. */
  readonly account: () => Promise<void>;
  /** Asks the model why it refused. The next turn does not wait for it. */
  readonly explain: () => Promise<void>;
}

export function afterReply(options: ReplyOptions, ending: Settled): AfterReply {
  const { outcome, findings, snapshot, text } = ending;
  return {
    async account() {
      const accounted = findings.request?.turn.cache.close();
      // The post goes out first.
      await yieldToEventLoop();
      options.logText(snapshot.conversation.key, null, text);
      if (!isRefused(outcome)) report(options, ending);
      await accounted;
    },
    async explain() {
      if (!isRefused(outcome)) return;
      await yieldToEventLoop();
      report(options, { ...ending, outcome: await withCause(options, outcome, findings) });
    },
  };
}

function isRefused(outcome: Ending['outcome']): outcome is FailedTurn {
  return outcome.kind === 'failed' && outcome.reason === 'refused';
}

/** Every turn fails while a fixed part is refused, and only an operator can change that. */
async function withCause(options: ReplyOptions, outcome: FailedTurn, findings: Findings): Promise<FailedTurn> {
  const part = await refusedPartOf(options, findings);
  if (part === null) return outcome;
  const message = `${outcome.message} The filter refuses a part of every request: ${part}. Change it, or choose another model.`;
  return { ...outcome, message };
}

export function cutIn(outcome: Ending['outcome']): Cut | null {
  return outcome.kind === 'answered' ? outcome.cut : null;
}

function report(options: ReplyOptions, { outcome, findings, startedAt, claim, snapshot, newest }: Ending): void {
  const base = { conversation: snapshot.conversation.key, readUpto: newest.seq };
  const { events, clock, store } = options.services;
  const now = clock.now();
  const keep = (work: Promise<void>) => keepAside(options, base.conversation, work);
  if (outcome.kind === 'failed') {
    const { reason, message } = outcome;
    events.emit({ kind: 'turn.failed', ...base, reason, message });
    keep(keepFailure(options.services.state, snapshot.conversation, { readUpto: base.readUpto, at: now, message }));
  }
  const facts = { steps: outcome.steps.length + 1, durationMs: now - startedAt, cut: cutIn(outcome) };
  events.emit({ kind: 'turn.ended', ...base, ...facts });
  const by = answeringModel(findings);
  if (by !== null) keep(keepAnsweredBy(options.services.state, claim.conversationId, by));
  const recalled = findings.request?.assembly.recalled ?? [];
  if (recalled.length === 0) return;
  keep(store.memories.recalled(recalled, { conversationId: claim.conversationId, now }));
}

/** A reply does not wait for counters or notes for `/status`; losing them would lose no memory. */
function keepAside({ services }: ReplyOptions, conversation: ConversationKey, work: Promise<void>): void {
  work.catch((error: unknown) => {
    services.events.emit({ kind: 'error.internal', conversation, message: describe(error) });
  });
}
