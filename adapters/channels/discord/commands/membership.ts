import { PermissionFlagsBits, Routes } from 'discord.js';
import { type Clock, describe, type Log } from '../../../../src/adapter-kit.ts';
import type { Place } from '../places/place.ts';
import type { Rest } from '../web/rest.ts';
import { isOutOfReach } from '../web/retry.ts';
import { soon } from './respond.ts';

/** Direct messages have no permissions. A form may have been open since before the person lost theirs. */
export function mayRead(permissions: string | null | undefined, needed: bigint): boolean {
  return permissions == null || isPermitted(permissions, needed);
}

function isPermitted(permissions: string, needed: bigint): boolean {
  const given = BigInt(permissions);
  return (given & PermissionFlagsBits.Administrator) !== 0n || (given & needed) === needed;
}

interface MembershipOptions {
  readonly rest: Pick<Rest, 'get'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Person {
  readonly place: Pick<Place, 'threadId' | 'isClosed'>;
  readonly userId: string;
  readonly permissions: string;
}

/**
 * Whether the person can read the thread now. Forms and buttons stay when somebody is removed from a private thread,
 * and permissions do not show that. False if Discord does not answer in time.
 */
export async function canStillRead(
  { rest, clock, log }: MembershipOptions,
  { place, userId, permissions }: Person,
): Promise<boolean> {
  const { threadId, isClosed } = place;
  if (isClosed !== true || threadId === null) return true;
  if (isPermitted(permissions, PermissionFlagsBits.ManageThreads)) return true;
  const asked = rest.get(Routes.threadMembers(threadId, userId)).then(
    () => true,
    (error: unknown) => {
      if (!isOutOfReach(error)) log.warn('Discord did not show who is in a thread', { cause: describe(error) });
      return false;
    },
  );
  return (await soon(clock, asked)) ?? false;
}
