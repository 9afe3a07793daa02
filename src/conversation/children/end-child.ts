import { describe } from '../../domain/errors.ts';
import { rootOf } from '../../domain/key.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { ChildEndReason, ChildPreparation } from '../../ports/engine-children.ts';
import { limitWork, rejection } from '../../util/async/limit.ts';
import type { ReplyOptions } from '../turn/reply-options.ts';
import { dropNote } from './child-notes.ts';

/** A child that has ended here, or that a dead process has left. */
export interface EndedChild {
  readonly key: ConversationKey;
  readonly parent: ConversationKey;
  readonly reason: ChildEndReason;
  /** Resolves when the engine was told of the turns: it is told of their end afterwards. */
  readonly reported: Promise<void>;
}

type EndOptions = Pick<ReplyOptions, 'services' | 'engineFor'>;

/** An engine that takes longer is told of the end once more, after the child was deleted. */
const MAX_END_MS = 60_000;

/**
 * Whatever the engine does, the child is deleted. If a step fails, the note stays, and a sweep repeats it. Never
 * rejects.
 */
export async function endChild(options: EndOptions, ended: EndedChild): Promise<void> {
  const { key } = ended;
  const { services } = options;
  const { conversations } = services.store;
  const failed = (error: unknown) => {
    report(options, key, error);
    return false;
  };
  try {
    const row = await conversations.find(key);
    const isTold = await tellEngine(options, ended, row?.id ?? null).then(() => true, failed);
    if (row !== null) await conversations.change(row.id, { kind: 'end' });
    if (isTold) await dropNote(services, key);
  } catch (error) {
    failed(error);
  }
}

async function tellEngine(
  { services, engineFor }: EndOptions,
  { key, parent, reason, reported }: EndedChild,
  conversationId: number | null,
): Promise<void> {
  using limit = limitWork(new AbortController().signal, { ms: MAX_END_MS });
  const late = rejection(limit.signal);
  await Promise.race([reported, late]);
  const engine = engineFor({ agentId: services.agents.agentFor(parent).id });
  await Promise.race([engine.endChild({ parent, child: key, conversationId, reason }), late]);
}

/** For a child that could not start. If a step fails, the note stays, and a sweep ends the child. Never rejects. */
export async function undoStart(
  options: EndOptions,
  key: ConversationKey,
  preparation: ChildPreparation | null,
): Promise<void> {
  const { services } = options;
  const { conversations } = services.store;
  try {
    await preparation?.rollback();
    const row = await conversations.find(key);
    if (row !== null) await conversations.change(row.id, { kind: 'end' });
    await dropNote(services, key);
  } catch (error) {
    report(options, key, error);
  }
}

function report({ services }: EndOptions, key: ConversationKey, error: unknown): void {
  services.events.emit({ kind: 'error.internal', conversation: rootOf(key), message: describe(error) });
}
