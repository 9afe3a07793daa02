import type { Profiles } from '../../context/profile/profile.ts';
import type { RequestRecorder } from '../../context/record/record-request.ts';
import type { ConversationKey, Entry } from '../../domain/message.ts';
import type { Breaker } from '../../models/breaker.ts';
import type { Channel } from '../../ports/channel.ts';
import type { ContextEngine, ContextProfile } from '../../ports/engine.ts';
import type { VolatileSection } from '../../ports/sections.ts';
import type { Claim, ContextSnapshot } from '../../ports/store.ts';
import type { Services, TextLog } from '../../services.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import type { Given } from '../state/turn-standing.ts';
import type { CacheAccounts } from './cache-account.ts';
import type { RefusedParts } from './refused/refused-part.ts';
import type { RefusedPasts } from './refused/refused-past.ts';
import type { Spawner } from './spawner.ts';
import type { DiskWatch } from './waiting/disk-watch.ts';

/** What all turns of a process share. */
export interface ReplyOptions {
  /** Shared by all conversations: which models are paused. */
  readonly breaker: Breaker;
  readonly services: Services;
  readonly profiles: Profiles;
  readonly tools: Pick<ToolRegistry, 'run'>;
  engineFor(profile: Pick<ContextProfile, 'agentId'>): ContextEngine;
  channelOf(conversation: ConversationKey): Channel | null;
  /** Sections for the newest message only: memories and the time. */
  volatileFor(reading: PendingReading): Promise<readonly VolatileSection[]>;
  readonly children: Spawner;
  readonly requests: RequestRecorder;
  readonly cacheAccounts: CacheAccounts;
  readonly refusedPasts: RefusedPasts;
  readonly refusedParts: RefusedParts;
  readonly disk: DiskWatch;
  readonly logText: TextLog;
  /** Aborts running turns at the deadline for stopping. Their replies stay owed for the next start. */
  readonly signal: AbortSignal;
}

/**
 * A turn that may start: its claim, the current view, and a way to read the view again. The actor, or the parent of a
 * child, makes one for each turn.
 */
export interface Opening {
  readonly claim: Claim;
  readonly snapshot: ContextSnapshot;
  latest(): Promise<ContextSnapshot | null>;
  /** Called before the first model call, with what the turn is given. */
  onGiven(given: Given): void;
}

/** What one turn reads: the view when it started, and the newest message in it. */
export interface Reading {
  readonly profile: ContextProfile;
  readonly snapshot: ContextSnapshot;
  readonly newest: Entry;
}

/** What one turn reads, while its profile is still being read. */
export interface PendingReading extends Omit<Reading, 'profile'> {
  readonly profile: ContextProfile | Promise<ContextProfile>;
  /** What the clock shows. Default: the current time. */
  readonly now?: number;
}
