import { z } from 'zod';
import { rootOf } from '../../domain/key.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { Services } from '../../services.ts';
import type { ParentCall } from '../turn/spawner.ts';

const NAMESPACE = 'child';
const noteSchema = z.object({
  parent: z.string(),
  /** The claim of the turn that the child belongs to. */
  parentId: z.int(),
  epoch: z.int(),
});

type NoteServices = Pick<Services, 'store' | 'state' | 'clock'>;

/** A child that is noted: its engine has to be told of its end. */
export interface NotedChild {
  readonly key: ConversationKey;
  readonly parent: ConversationKey;
  /** Whether the turn that opened it still holds its claim. */
  isRunning(): Promise<boolean>;
}

/** Stored before the engine prepares anything, so that the engine is told of the end in any case. */
export async function noteChild({ state }: NoteServices, key: ConversationKey, parent: ParentCall): Promise<void> {
  const { conversationId, epoch } = parent.claim;
  await state.set(NAMESPACE, key, { parent: parent.key, parentId: conversationId, epoch });
}

export async function dropNote({ state }: NoteServices, key: ConversationKey): Promise<void> {
  await state.delete(NAMESPACE, key);
}

/** The children of all processes. */
export async function notedChildren(services: NoteServices): Promise<readonly NotedChild[]> {
  return (await services.state.list(NAMESPACE)).map(({ key: stored, value }) => {
    const key = stored as ConversationKey;
    const { data } = noteSchema.safeParse(value);
    const parent = (data?.parent ?? rootOf(key)) as ConversationKey;
    return { key, parent, isRunning: async () => data !== undefined && (await isRunning(services, data)) };
  });
}

async function isRunning({ store, clock }: NoteServices, note: z.infer<typeof noteSchema>): Promise<boolean> {
  const parent = await store.conversations.get(note.parentId);
  return parent?.replyEpoch === note.epoch && (parent.replyUntil ?? 0) > clock.now();
}
