import { StrataError } from '../../domain/errors.ts';
import { rootOf } from '../../domain/key.ts';
import type { ChildEndReason, ChildPreparation } from '../../ports/engine-children.ts';
import type { ChildAnswer } from '../../tools/spawn.ts';
import { limitWork, rejection } from '../../util/async/limit.ts';
import { createMailbox, type Mailbox } from '../../util/async/mailbox.ts';
import { MINUTE_MS } from '../../util/time/time.ts';
import { noteChild } from './child-notes.ts';
import {
  type Asked,
  answerAsked,
  type Child,
  type ChildOptions,
  type RunningChild,
  reporting,
  tellChild,
  tokensIn,
} from './child-turn.ts';
import { endChild, undoStart } from './end-child.ts';

/** A child of this process, from its note to its deletion. Nothing else ends it while it runs. */
export interface Life {
  /** Rejects if the child cannot start, fails, or has to end early. */
  readonly answer: Promise<ChildAnswer>;
  /** Resolves when nothing of the child is left to do. The turn of the parent does not wait for it. */
  readonly over: Promise<void>;
}

/** Maximum number of turns of one child. */
const MAX_TURNS = 16;
const MAX_CHILD_MS = 10 * MINUTE_MS;

/** The child starts, its model answers, and it ends: each once, in this order. A child that cannot start has no end. */
export function beginLife(options: ChildOptions, child: Child): Life {
  const { key, parent, task } = child;
  const { clock, events } = options.services;
  const startedAt = clock.now();
  let ended: Promise<void> = Promise.resolve();
  const lead = async (): Promise<ChildAnswer> => {
    const outer = task.signal ?? parent.context.signal;
    using limit = limitWork(outer, { ms: MAX_CHILD_MS });
    const running: RunningChild = { ...child, signal: limit.signal, usage: [] };
    const first = await start(options, running);
    const reports = createMailbox({ onError: reporting(options, child) });
    let reason: ChildEndReason = 'failed';
    try {
      const answer = await converse(options, running, { first, reports });
      reason = 'completed';
      return answer;
    } catch (error) {
      if (outer.aborted) reason = 'aborted';
      else if (limit.signal.aborted)
        throw new StrataError('CHILD_LIMIT', { limit: `${MAX_CHILD_MS / MINUTE_MS} minutes` });
      throw error;
    } finally {
      const durationMs = clock.now() - startedAt;
      events.emit({ kind: 'child.ended', conversation: rootOf(key), reason, durationMs });
      ended = endChild(options, { key, parent: parent.key, reason, reported: reports.drained() });
    }
  };
  const answer = lead();
  const end = () => ended;
  return { answer, over: answer.then(end, end) };
}

/** Prepares the child and stores its task. If a step fails, everything before it is undone. */
async function start(options: ChildOptions, child: RunningChild): Promise<Asked> {
  const { key, parent, task } = child;
  child.signal.throwIfAborted();
  await noteChild(options.services, key, parent);
  let preparation: ChildPreparation | null = null;
  try {
    const engine = options.engineFor(parent.profile);
    preparation = await engine.prepareChild({ parent: parent.key, child: key, ttlMs: MAX_CHILD_MS });
    return await tellChild(options, child, task.task);
  } catch (error) {
    await undoStart(options, key, preparation);
    throw error;
  }
}

interface Conversing {
  readonly first: Asked;
  /** The engine is told of the turns. The answer does not wait for it. */
  readonly reports: Mailbox;
}

/** Runs turns until the child's model has answered and the tool has nothing more to say. */
async function converse(
  options: ChildOptions,
  child: RunningChild,
  { first, reports }: Conversing,
): Promise<ChildAnswer> {
  let asked = first;
  for (let turns = 1; ; turns += 1) {
    const done = await answerAsked(options, child, asked);
    const following = child.task.next?.(done.text) ?? null;
    const next = await Promise.race([following, rejection(child.signal)]);
    reports.put(() => done.report(next === null));
    if (next === null) return { text: done.text, turns, tokens: tokensIn(child.usage) };
    if (turns === MAX_TURNS) throw new StrataError('CHILD_LIMIT', { limit: `${MAX_TURNS} turns` });
    asked = await tellChild(options, child, next);
  }
}
