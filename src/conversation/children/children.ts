import { z } from 'zod';
import { childTools } from '../../context/profile/child-profile.ts';
import { describe, StrataError } from '../../domain/errors.ts';
import { depthOf, makeChildKey, rootOf } from '../../domain/key.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { ContextEngine } from '../../ports/engine.ts';
import type { ChildEndReason, ChildPreparation } from '../../ports/engine-children.ts';
import type { ChildAnswer, ChildTask } from '../../tools/spawn.ts';
import { MINUTE_MS } from '../../util/time/time.ts';
import { limitWork, rejection } from '../../util/work/limit.ts';
import type { ParentCall, Spawner } from '../turn/spawner.ts';
import { type Asked, type Child, type ChildOptions, converse, tellChild } from './spawn.ts';

/** The child conversations of this process, and those that a dead process has left. */
export interface Children extends Spawner {
  /** Ends the children whose turn no longer runs. */
  sweep(): Promise<void>;
  /** Resolves when everything that has ended is deleted. */
  drained(): Promise<void>;
}

/** Stored before the engine prepares anything, so that the engine is told of the end in any case. */
const NAMESPACE = 'child';
const noteSchema = z.object({
  parent: z.string(),
  /** The claim of the turn that the child belongs to. */
  parentId: z.int(),
  epoch: z.int(),
});

/** How deep children can be nested. */
const MAX_DEPTH = 2;
/** Maximum number of children of one turn, with those inside them. */
const MAX_CHILDREN = 16;
const MAX_CHILD_MS = 10 * MINUTE_MS;
/** An engine that takes longer is told of the end once more, after the child was deleted. */
const MAX_END_MS = 60_000;

/** The children of this process. `track` and `spawn` add to `live`, and remove what has ended. */
interface Self {
  readonly options: ChildOptions;
  /** Children that run or are being deleted in this process. */
  readonly live: Map<ConversationKey, Promise<unknown>>;
}

export function createChildren(options: Omit<ChildOptions, 'children'>): Children {
  const children: Children = {
    spawn: (parent, task) => track(self, parent, task),
    sweep: () => sweep(self),
    async drained() {
      while (self.live.size > 0) await Promise.allSettled(self.live.values());
    },
  };
  const self: Self = { options: { ...options, children }, live: new Map() };
  return children;
}

async function track(self: Self, parent: ParentCall, task: ChildTask): Promise<ChildAnswer> {
  const tools = childTools(parent.profile.tools, { wanted: task.tools, caller: parent.tool });
  refuseTooMany(parent);
  parent.budget.children += 1;
  const key = makeChildKey(parent.key, self.options.services.random.id());
  const answered = spawn(self, { key, parent, task, tools }).finally(() => {
    // Once it has started, `spawn` has put its end in its place.
    if (self.live.get(key) === answered) self.live.delete(key);
  });
  self.live.set(key, answered);
  return await answered;
}

function refuseTooMany({ key, budget }: ParentCall): void {
  if (depthOf(key) >= MAX_DEPTH) throw new StrataError('CHILD_LIMIT', { limit: `${MAX_DEPTH} levels` });
  if (budget.children >= MAX_CHILDREN) throw new StrataError('CHILD_LIMIT', { limit: `${MAX_CHILDREN} for each turn` });
}

type NewChild = Pick<Child, 'key' | 'parent' | 'task' | 'tools'>;

async function spawn(self: Self, { key, parent, task, tools }: NewChild): Promise<ChildAnswer> {
  const { clock } = self.options.services;
  const outer = task.signal ?? parent.context.signal;
  using limit = limitWork(outer, { ms: MAX_CHILD_MS });
  const child: Child = { key, parent, task, tools, signal: limit.signal, usage: [], reported: NOTHING_TO_REPORT };
  const startedAt = clock.now();
  const first = await start(self, child);
  let reason: ChildEndReason = 'failed';
  try {
    const answer = await converse(self.options, child, first);
    reason = 'completed';
    return answer;
  } catch (error) {
    if (outer.aborted) reason = 'aborted';
    else if (limit.signal.aborted)
      throw new StrataError('CHILD_LIMIT', { limit: `${MAX_CHILD_MS / MINUTE_MS} minutes` });
    throw error;
  } finally {
    const durationMs = clock.now() - startedAt;
    self.options.services.events.emit({ kind: 'child.ended', conversation: rootOf(key), reason, durationMs });
    // The turn goes on at once.
    const ended = end(self, { key, parent: parent.key, reason, reported: child.reported });
    self.live.set(
      key,
      ended.finally(() => self.live.delete(key)),
    );
  }
}

const NOTHING_TO_REPORT = Promise.resolve();

/** Prepares the child and stores its task. If a step fails, everything before it is undone. */
async function start({ options }: Self, child: Child): Promise<Asked> {
  const { key, parent, task } = child;
  const { state } = options.services;
  const note = { parent: parent.key, parentId: parent.claim.conversationId, epoch: parent.claim.epoch };
  child.signal.throwIfAborted();
  await state.set(NAMESPACE, key, note);
  let preparation: ChildPreparation | null = null;
  try {
    const engine = options.engineFor(parent.profile);
    preparation = await engine.prepareChild({ parent: parent.key, child: key, ttlMs: MAX_CHILD_MS });
    return await tellChild(options, child, task.task);
  } catch (error) {
    await undo(options, key, preparation).catch((failure: unknown) => report(options, key, failure));
    throw error;
  }
}

/** If a step fails, the note stays, and a sweep ends the child. */
async function undo(
  { services }: ChildOptions,
  key: ConversationKey,
  preparation: ChildPreparation | null,
): Promise<void> {
  const { store, state } = services;
  await preparation?.rollback();
  const row = await store.conversations.find(key);
  if (row !== null) await store.conversations.change(row.id, { kind: 'end' });
  await state.delete(NAMESPACE, key);
}

function report({ services }: ChildOptions, key: ConversationKey, error: unknown): void {
  services.events.emit({ kind: 'error.internal', conversation: rootOf(key), message: describe(error) });
}

/** A child that has ended here, or that a dead process has left. */
interface Ending {
  readonly key: ConversationKey;
  readonly parent: ConversationKey;
  readonly reason: ChildEndReason;
  /** The engine is told of the turns before it is told of their end. */
  readonly reported: Promise<void>;
}

/** Whatever the engine does, the child is deleted. If a step fails, the note stays, and a sweep repeats it. */
async function end({ options }: Self, ending: Ending): Promise<void> {
  const { key } = ending;
  const { store, state } = options.services;
  const failed = (error: unknown) => {
    report(options, key, error);
    return false;
  };
  try {
    const row = await store.conversations.find(key);
    const isTold = await tellEngine(options, ending, row?.id ?? null).then(() => true, failed);
    if (row !== null) await store.conversations.change(row.id, { kind: 'end' });
    if (isTold) await state.delete(NAMESPACE, key);
  } catch (error) {
    failed(error);
  }
}

async function tellEngine(
  options: ChildOptions,
  { key, parent, reason, reported }: Ending,
  conversationId: number | null,
): Promise<void> {
  using limit = limitWork(new AbortController().signal, { ms: MAX_END_MS });
  const late = rejection(limit.signal);
  await Promise.race([reported, late]);
  await Promise.race([engineOf(options, parent).endChild({ parent, child: key, conversationId, reason }), late]);
}

function engineOf({ services, engineFor }: ChildOptions, parent: ConversationKey): ContextEngine {
  return engineFor({ agentId: services.agents.agentFor(parent).id });
}

async function sweep(self: Self): Promise<void> {
  const { state } = self.options.services;
  for (const { key: stored, value } of await state.list(NAMESPACE)) {
    const key = stored as ConversationKey;
    const { data } = noteSchema.safeParse(value);
    if (self.live.has(key) || (data !== undefined && (await isRunning(self.options, data)))) continue;
    const parent = (data?.parent ?? rootOf(key)) as ConversationKey;
    await end(self, { key, parent, reason: 'swept', reported: NOTHING_TO_REPORT });
  }
}

/** Whether the turn that opened the child still holds its claim. */
async function isRunning({ services }: ChildOptions, note: z.infer<typeof noteSchema>): Promise<boolean> {
  const parent = await services.store.conversations.get(note.parentId);
  return parent?.replyEpoch === note.epoch && (parent.replyUntil ?? 0) > services.clock.now();
}
