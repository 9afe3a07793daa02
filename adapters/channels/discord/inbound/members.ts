import { Routes } from 'discord.js';
import type { Rest } from '../rest.ts';
import { isOutOfReach } from '../retry.ts';
import { memberSchema, type WireMember } from '../wire.ts';

const MAX_KNOWN = 1_000;

/** Names and roles of people in a server, which messages read over REST lack. */
export interface Members {
  /** Null for people who left, and for webhooks. */
  of(guildId: string, userId: string): Promise<WireMember | null>;
}

export function createMembers(rest: Rest): Members {
  const known = new Map<string, WireMember | null>();
  return {
    async of(guildId, userId) {
      const key = `${guildId} ${userId}`;
      const found = known.get(key);
      if (found !== undefined) return found;
      const member = await readMember(rest, guildId, userId);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(key, member);
      return member;
    },
  };
}

async function readMember(rest: Rest, guildId: string, userId: string): Promise<WireMember | null> {
  try {
    return memberSchema.parse(await rest.get(Routes.guildMember(guildId, userId)));
  } catch (error) {
    if (isOutOfReach(error)) return null;
    throw error;
  }
}
