import { childTools } from '../../context/profile/child-profile.ts';
import { StrataError } from '../../domain/errors.ts';
import { depthOf, makeChildKey } from '../../domain/key.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { ChildAnswer, ChildTask } from '../../tools/spawn.ts';
import type { ParentCall, Spawner } from '../turn/spawner.ts';
import { beginLife } from './child-life.ts';
import { notedChildren } from './child-notes.ts';
import type { ChildOptions } from './child-turn.ts';
import { endChild } from './end-child.ts';

/**
 * The child conversations of this process, and those that a dead process has left. The life of a child ends it in the
 * process that opened it; all others are ended by a sweep.
 */
export interface Children extends Spawner {
  /** Ends the children whose turn no longer runs. */
  sweep(): Promise<void>;
  /** Resolves when everything that has ended is deleted. */
  drained(): Promise<void>;
}

/** How deep children can be nested. */
const MAX_DEPTH = 2;
/** Maximum number of children of one turn, with those inside them. */
const MAX_CHILDREN = 16;

interface Self {
  readonly options: ChildOptions;
  /** Resolves, and is removed, when the life of the child is over. */
  readonly live: Map<ConversationKey, Promise<void>>;
}

export function createChildren(options: Omit<ChildOptions, 'children'>): Children {
  const children: Children = {
    spawn: (parent, task) => spawn(self, parent, task),
    sweep: () => sweep(self),
    async drained() {
      while (self.live.size > 0) await Promise.all(self.live.values());
    },
  };
  const self: Self = { options: { ...options, children }, live: new Map() };
  return children;
}

async function spawn({ options, live }: Self, parent: ParentCall, task: ChildTask): Promise<ChildAnswer> {
  const tools = childTools(parent.profile.tools, { wanted: task.tools, caller: parent.tool });
  refuseTooMany(parent);
  parent.budget.children += 1;
  const key = makeChildKey(parent.key, options.services.random.id());
  const { answer, over } = beginLife(options, { key, parent, task, tools });
  live.set(
    key,
    over.finally(() => live.delete(key)),
  );
  return await answer;
}

function refuseTooMany({ key, budget }: ParentCall): void {
  if (depthOf(key) >= MAX_DEPTH) throw new StrataError('CHILD_LIMIT', { limit: `${MAX_DEPTH} levels` });
  if (budget.children >= MAX_CHILDREN) throw new StrataError('CHILD_LIMIT', { limit: `${MAX_CHILDREN} for each turn` });
}

/** A child that lives in this process ends by itself, even if its turn has lost its claim. */
async function sweep({ options, live }: Self): Promise<void> {
  for (const { key, parent, isRunning } of await notedChildren(options.services)) {
    if (live.has(key) || (await isRunning())) continue;
    await endChild(options, { key, parent, reason: 'swept', reported: Promise.resolve() });
  }
}
