import { Routes } from 'discord.js';
import { type Clock, createRecentMap, MINUTE_MS } from '../../../../src/adapter-kit.ts';
import { elapsedMs } from '../../shared/elapsed.ts';
import type { Rest } from '../web/rest.ts';
import { isOutOfReach } from '../web/retry.ts';
import { memberSchema, type WireMember } from '../wire.ts';

const MAX_KNOWN = 1_000;
/** Roles decide who is served, so somebody who has lost one is not served for much longer. */
const MAX_AGE_MS = MINUTE_MS;

/** Names and roles of people in a server, which messages read over REST lack. */
export interface Members {
  /** Null for people who left, and for webhooks. */
  of(guildId: string, userId: string): Promise<WireMember | null>;
}

interface MemberOptions {
  readonly rest: Pick<Rest, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Asks Discord about each person at most once a minute. */
export function createMembers({ rest, clock }: MemberOptions): Members {
  const known = createRecentMap<string, { readonly member: WireMember | null; readonly readAt: number }>(MAX_KNOWN);
  return {
    async of(guildId, userId) {
      const key = `${guildId} ${userId}`;
      const found = known.get(key);
      if (found !== undefined && elapsedMs(clock, found.readAt) < MAX_AGE_MS) return found.member;
      const member = await readMember(rest, guildId, userId);
      known.set(key, { member, readAt: clock.now() });
      return member;
    },
  };
}

async function readMember(rest: MemberOptions['rest'], guildId: string, userId: string): Promise<WireMember | null> {
  try {
    return memberSchema.parse(await rest.get(Routes.guildMember(guildId, userId)));
  } catch (error) {
    if (isOutOfReach(error)) return null;
    throw error;
  }
}
