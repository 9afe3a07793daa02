import type { CommandServices } from '../../commands/services.ts';
import type { AgentSettings } from '../../config/schema.ts';
import { type RecordingLimits, readRecording } from '../../forecast/open.ts';
import type { Recording } from '../../forecast/recording.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import type { Conversation } from '../../ports/store.ts';
import { createRecentMap } from '../../util/recent-map.ts';
import { MINUTE_MS } from '../../util/time/time.ts';

/** A conversation as it was when somebody began to try settings on it. */
export interface Session {
  readonly recording: Recording;
  readonly agent: AgentSettings;
  readonly profile: ContextProfile;
  /** Older messages are left out. */
  readonly isPartial: boolean;
}

export interface Recordings {
  /** Reads the conversation again if it was edited, if other settings apply, or if `isFresh` and it has grown. */
  of(conversation: Conversation, options: { readonly isFresh: boolean }): Promise<Session>;
  /** How many are held now. */
  size(): number;
}

const LIMITS = { messages: 20_000, tokens: 3_000_000 } as const;
const MAX_SESSIONS = 3;
/** Nobody looks at the page any more. */
const IDLE_MS = 5 * MINUTE_MS;

interface Held {
  readonly conversation: Conversation;
  readonly agent: AgentSettings;
  readonly session: Promise<Session>;
  usedAt: number;
}

/** Holds a few conversations while somebody tries settings on them, and frees them after some minutes without a use. */
export function createRecordings(
  services: Pick<CommandServices, 'store' | 'search' | 'agents' | 'profile' | 'clock'>,
  limits: RecordingLimits = LIMITS,
): Recordings {
  const held = createRecentMap<number, Held>(MAX_SESSIONS);
  const never = new AbortController().signal;
  let isWaiting = false;
  const free = async (): Promise<void> => {
    isWaiting = true;
    while (held.size > 0) {
      await services.clock.sleep(IDLE_MS, { signal: never });
      for (const [id, { usedAt }] of held) if (services.clock.now() - usedAt >= IDLE_MS) held.delete(id);
    }
    isWaiting = false;
  };
  return {
    size: () => held.size,
    async of(conversation, { isFresh }) {
      const agent = services.agents.agentFor(conversation.key);
      const known = held.get(conversation.id);
      const isUsable = known?.agent === agent && isSame(known.conversation, conversation, isFresh);
      const item = isUsable
        ? known
        : { conversation, agent, session: open(services, { conversation, agent, limits }), usedAt: 0 };
      item.usedAt = services.clock.now();
      held.set(conversation.id, item);
      if (!isWaiting) void free();
      try {
        return await item.session;
      } catch (error) {
        if (held.get(conversation.id) === item) held.delete(conversation.id);
        throw error;
      }
    },
  };
}

function isSame(before: Conversation, now: Conversation, isFresh: boolean): boolean {
  const isUnedited = before.revision === now.revision && before.contextFrom === now.contextFrom;
  return isUnedited && (!isFresh || before.nextSeq === now.nextSeq);
}

interface Opening extends Pick<Held, 'conversation' | 'agent'> {
  readonly limits: RecordingLimits;
}

async function open(
  services: Pick<CommandServices, 'store' | 'search' | 'profile'>,
  { conversation, agent, limits }: Opening,
): Promise<Session> {
  const profile = await services.profile(conversation);
  const recording = await readRecording(services, conversation, { ...agent, limits });
  return { recording, agent, profile, isPartial: recording.firstSeq > Math.max(1, conversation.contextFrom) };
}
