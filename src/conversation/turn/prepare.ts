import type { AgentSettings } from '../../config/schema.ts';
import { describe, isStoreAway, isStrataError, ModelError } from '../../domain/errors.ts';
import type { Entry } from '../../domain/message.ts';
import { failureOf } from '../../models/failure.ts';
import type { Activity } from '../../ports/channel.ts';
import type { ContextEngine, ContextProfile } from '../../ports/engine.ts';
import type { TurnFailure } from '../../ports/events.ts';
import type { ChatModel } from '../../ports/model.ts';
import type { VolatileSection } from '../../ports/sections.ts';
import type { Given } from '../state/turn-standing.ts';
import { type CacheAccount, NO_CACHE_ACCOUNT } from './cache-account.ts';
import type { FailedTurn } from './loop/outcome.ts';
import type { Opening, Reading, ReplyOptions } from './reply-options.ts';
import type { ChildTurn } from './spawner.ts';

/** A turn under its lease. `reply` makes it once; a turn that is prepared a second time starts from the same one. */
export interface LeasedTurn extends Opening {
  readonly newest: Entry;
  readonly signal: AbortSignal;
  readonly show: (activity: Activity) => void;
}

/** What a turn reads and asks. It stays known once the turn has run. */
export interface TurnBasis extends Reading {
  readonly engine: ContextEngine;
  /** In the order in which they are tried. */
  readonly models: readonly ChatModel[];
  /** When its sections were made. */
  readonly preparedAt: number;
  readonly cache: CacheAccount;
}

/** A turn that can run. */
export interface PreparedTurn {
  readonly leased: LeasedTurn;
  readonly basis: TurnBasis;
  /** Of the profile, whatever the configuration has become since. */
  readonly agent: AgentSettings;
  /** The sections for its newest message. */
  readonly volatile: readonly VolatileSection[];
  /** Only for a turn of a child. */
  readonly child?: ChildTurn;
}

export type Prepared =
  | { readonly ready: true; readonly turn: PreparedTurn }
  | { readonly ready: false; readonly outcome: FailedTurn };

/**
 * Opens the model and collects what the turn reads. If the model cannot be opened, the turn answers with an apology
 * instead of throwing.
 */
export async function prepare(options: ReplyOptions, leased: LeasedTurn): Promise<Prepared> {
  try {
    const { conversation } = leased.snapshot;
    const agent = options.services.agents.agentFor(conversation.key);
    const profile = options.profiles.of(conversation);
    return { ready: true, turn: await collectTurn(options, leased, { agent, profile }) };
  } catch (error) {
    if (isStoreAway(error)) throw error;
    const reason = reasonNotOpened(error);
    return { ready: false, outcome: { kind: 'failed', reason, message: describe(error), steps: [] } };
  }
}

export interface Profiled {
  readonly agent: AgentSettings;
  /** May still be read. */
  readonly profile: ContextProfile | Promise<ContextProfile>;
  readonly child?: ChildTurn;
}

/** Finds everything that the turn needs. Throws if the model cannot be opened. */
export async function collectTurn(
  options: ReplyOptions,
  leased: LeasedTurn,
  { agent, profile: reading, ...child }: Profiled,
): Promise<PreparedTurn> {
  // Concurrently, so that both share one read of the store.
  const preparedAt = options.services.clock.now();
  const sections = options.volatileFor({ ...leased, profile: reading, now: preparedAt });
  const [profile, volatile] = await Promise.all([reading, sections]);
  const models = await options.profiles.modelsFor(profile);
  const engine = options.engineFor(profile);
  const cache = cacheAccountOf(options, leased, child);
  const { snapshot, newest } = leased;
  const basis = { profile, snapshot, newest, engine, models, preparedAt, cache };
  const turn = { leased, basis, agent, volatile, ...child };
  leased.onGiven(givenAtFirst(turn));
  return turn;
}

function cacheAccountOf(
  { cacheAccounts }: ReplyOptions,
  { claim, snapshot }: LeasedTurn,
  { child }: Pick<Profiled, 'child'>,
): CacheAccount {
  return child === undefined ? cacheAccounts.open(claim, snapshot.conversation.key) : NO_CACHE_ACCOUNT;
}

/** What the model is given before it calls a tool. */
export function givenAtFirst({ volatile, basis }: Pick<PreparedTurn, 'volatile' | 'basis'>): Given {
  return {
    memoryIds: [...volatile, ...basis.profile.sections].flatMap(({ memoryIds = [] }) => memoryIds),
    quotes: volatile.flatMap(({ quotes = [] }) => quotes),
  };
}

function reasonNotOpened(error: unknown): TurnFailure {
  if (error instanceof ModelError) return error.reason;
  if (isStrataError(error, 'MODEL_UNKNOWN')) return 'missing';
  return failureOf(error).isAuth ? 'auth' : 'internal';
}
