import { z } from 'zod';
import { type ChannelSink, describe, type Log, type StateStore } from '../../../../src/adapter-kit.ts';
import { PLATFORM } from '../places/place.ts';

/** The app was removed from a workspace, or its token was revoked. */
export interface Ending {
  /** Whose tokens were revoked; null if the app was removed. */
  readonly revoked: readonly string[] | null;
}

const removedSchema = z.object({ type: z.literal('app_uninstalled') });
const revokedSchema = z.object({ type: z.literal('tokens_revoked'), tokens: z.object({ bot: z.array(z.string()) }) });

/** Null for every other event, and if only tokens of people were revoked, which Strata does not use. */
export function endingOf(event: unknown): Ending | null {
  if (removedSchema.safeParse(event).success) return { revoked: null };
  const revoked = revokedSchema.safeParse(event).data?.tokens.bot ?? [];
  return revoked.length === 0 ? null : { revoked };
}

/** The channel's own data, by conversation or by workspace and person. */
const NAMESPACES = [
  'slack.asked',
  'slack.beginnings',
  'slack.channels',
  'slack.drafts',
  'slack.gap',
  'slack.greeted',
  'slack.heard',
  'slack.inbox',
  'slack.plain',
  'slack.posts',
  'slack.threads',
  'slack.viewing',
];

export interface LeavingOptions {
  readonly sink: ChannelSink;
  readonly state: StateStore;
  readonly log: Log;
}

/** Deletes all data of a workspace. */
export async function forgetWorkspace({ sink, state, log }: LeavingOptions, teamId: string): Promise<void> {
  log.warn('Deleting the data of a workspace that removed the app', { team: teamId });
  try {
    await sink.left({ workspace: `${PLATFORM}:${teamId}` });
    for (const namespace of NAMESPACES) {
      for (const { key } of await state.list(namespace)) {
        const isOurs = key === teamId || key.startsWith(`${teamId}:`) || key.startsWith(`${PLATFORM}:${teamId}:`);
        if (isOurs) await state.delete(namespace, key);
      }
    }
  } catch (error) {
    log.error('The data of a workspace could not be deleted', { team: teamId, cause: describe(error) });
    throw error;
  }
}
