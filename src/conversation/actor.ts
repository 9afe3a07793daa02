import { describe } from '../domain/errors.ts';
import type { ConversationKey, Entry } from '../domain/message.ts';
import type { AfterTurn } from '../ports/engine.ts';
import type { Append, Appended, AppendResult, Claim, ContextSnapshot } from '../ports/store.ts';
import { type Limit, limitWork } from '../util/async/limit.ts';
import { createMailbox, type Mailbox } from '../util/async/mailbox.ts';
import type { Outbox } from './posts/outbox.ts';
import { askedIn, newestMessage, owesReply, seqsOfTurn, toEntry } from './state/snapshot.ts';
import { type Given, NOTHING_GIVEN, type Standing, standingOf } from './state/turn-standing.ts';
import { createViewCache, type ViewCache } from './state/view-cache.ts';
import type { ReplyEnd } from './turn/commit.ts';
import { REPLY_LEASE_MS, reply } from './turn/reply.ts';
import type { Opening, ReplyOptions } from './turn/reply-options.ts';
import { createRestartCount, type RestartCount, waitToRestart } from './turn/waiting/restarts.ts';
import { postpone } from './turn/waiting/turn-retries.ts';
import { leaveSlot, type Seat, slotFor, type TurnSlots } from './turn/waiting/turn-slots.ts';

/**
 * One active conversation in this process: stores incoming messages at once, runs its turns one at a time, and caches
 * its view. It can be dropped whenever it is idle.
 */
export interface Actor {
  /**
   * Stores a message, and starts a turn if a reply is owed. Resolves when the message is durable. `onStored` is called
   * earlier: as soon as the message can be read, and before the turn reads it.
   */
  receive(append: Omit<Append, 'claimLeaseMs'>, onStored?: (stored: Stored) => void): Promise<Appended>;
  /** Checks for an owed reply, after startup or when another process gave up. */
  wake(): void;
  /**
   * Drops the cached view and ends a turn that lost its claim or something that it was given, or whose messages were
   * edited.
   */
  refresh(): void;
  readonly busy: boolean;
  readonly lastUsedAt: number;
  drained(): Promise<void>;
}

export interface ActorOptions extends ReplyOptions {
  readonly outbox: Outbox;
  readonly watch: Watch;
  readonly slots: TurnSlots;
  /** The scope in which ids of people are unique: the workspace of the conversation, or its whole platform. */
  personScopeOf(conversation: ConversationKey): string;
  /** Aborted once the bot is stopping: no new turn starts. */
  readonly closing: AbortSignal;
}

/** Called with every stored message and finished turn. Returns at once. */
export interface Watch {
  stored(snapshot: ContextSnapshot, entry: Entry): void;
  answered(snapshot: ContextSnapshot, verdict: AfterTurn, seqs: readonly number[]): void;
}

export type Stored = Extract<Appended, { kind: 'stored' }>;

/** The state of one actor. The functions of this file share it and change it; nothing else sees it. */
interface Self {
  readonly key: ConversationKey;
  readonly cache: ViewCache;
  readonly turns: Mailbox;
  readonly seat: Seat;
  readonly onError: (error: unknown) => void;
  /** Whether the engine was told that the conversation is active here. */
  isBootstrapped: boolean;
  /** Null between turns. */
  running: Running | null;
  readonly restarts: RestartCount;
}

/** The turn that is running: what it has read, and how to end it. */
interface Running extends Standing {
  readonly limit: Limit;
  /** Empty until the turn is prepared. */
  given: Given;
}

export function createActor(options: ActorOptions, key: ConversationKey): Actor {
  const { store, clock, events } = options.services;
  const onError = (error: unknown) =>
    events.emit({ kind: 'error.internal', conversation: key, message: describe(error) });
  const showIdle = () => {
    if (!self.turns.busy) options.channelOf(key)?.show(key, { kind: 'idle' });
  };
  // No turn is left; its reply may still have to be posted.
  const onIdle = () => options.outbox.settled(key).then(showIdle, onError);
  const turns = createMailbox({ onError, onIdle });
  const self: Self = {
    key,
    cache: createViewCache(store, key),
    turns,
    seat: options.slots.seat(),
    onError,
    isBootstrapped: false,
    running: null,
    restarts: createRestartCount(),
  };
  let lastUsedAt = clock.now();
  let receiving = 0;
  return {
    async receive(append, onStored) {
      lastUsedAt = clock.now();
      receiving += 1;
      try {
        return await storeMessage(options, self, { append, onStored: onStored ?? (() => undefined) });
      } finally {
        receiving -= 1;
      }
    },
    wake() {
      // Another process may have stored an owed reply, which the cache does not show.
      self.cache.drop();
      self.turns.put(() => runOwedTurns(options, self, null));
    },
    refresh() {
      self.cache.drop();
      endOvertaken(options, self).catch(onError);
    },
    get busy() {
      return self.turns.busy || receiving > 0;
    },
    get lastUsedAt() {
      return lastUsedAt;
    },
    drained: () => self.turns.drained(),
  };
}

interface Receiving {
  readonly append: Omit<Append, 'claimLeaseMs'>;
  onStored(stored: Stored): void;
}

async function storeMessage(options: ActorOptions, self: Self, { append, onStored }: Receiving): Promise<Appended> {
  const { cache, turns } = self;
  // While a turn runs, the store rejects the claim, so there is no need to wait for a turn that has just ended.
  const claimLeaseMs = options.closing.aborted ? null : REPLY_LEASE_MS;
  const result = await options.services.store.transcript.append({ ...append, claimLeaseMs });
  if (result.kind === 'duplicate') return await onDisk(options, self, result);
  onStored(result);
  const { seq } = result;
  const entry = toEntry(append.message, { seq, wantsReply: append.wantsReply });
  const answer = append.answer === undefined ? [] : [toEntry(append.answer, { seq: seq + 1, wantsReply: false })];
  cache.extend(result, [entry, ...answer]);
  // Queued even while a turn runs, because that turn may have checked for owed replies just before this message was
  // stored.
  if (append.wantsReply) {
    noteAsker(options, self, append.message);
    turns.put(() => runOwedTurns(options, self, result.claim));
  } else turns.follow(watchStored(options, self, entry));
  // The turn does not wait for the disk; its own commit does.
  return await onDisk(options, self, result);
}

/** The next turn answers its author, among others. A bot may speak for many people, such as those of a bridge. */
function noteAsker({ personScopeOf }: ActorOptions, { key, seat }: Self, { author }: Pick<Entry, 'author'>): void {
  if (author?.kind === 'person') seat.ask(`${personScopeOf(key)} ${author.id}`);
}

async function onDisk({ disk }: ActorOptions, { key }: Self, result: AppendResult): Promise<Appended> {
  await disk.watch(result.durable, key);
  return result;
}

async function watchStored(options: ActorOptions, self: Self, entry: Entry): Promise<void> {
  const snapshot = await self.cache.current();
  if (snapshot === null) return;
  await bootstrapOnce(options, self, snapshot);
  options.watch.stored(snapshot, entry);
}

/** Tells the engine that the conversation is active in this process. */
async function bootstrapOnce(options: ActorOptions, self: Self, snapshot: ContextSnapshot): Promise<void> {
  if (self.isBootstrapped) return;
  self.isBootstrapped = true;
  try {
    const profile = await options.profiles.of(snapshot.conversation);
    await options.engineFor(profile).bootstrap(snapshot);
  } catch (error) {
    // The model could not be opened; the next message may find its key set.
    self.isBootstrapped = false;
    throw error;
  }
}

/** Runs turns until no reply is owed. A message that arrives during a turn is stored at once and joins the next one. */
async function runOwedTurns(options: ActorOptions, self: Self, first: Claim | null): Promise<void> {
  const { cache, key } = self;
  let snapshot = await cache.current();
  // If the model cannot be opened, the turn itself answers with an apology.
  if (snapshot !== null) await bootstrapOnce(options, self, snapshot).catch(() => undefined);
  let claim = first ?? (await claimOwedReply(options, cache, snapshot));
  while (claim !== null && snapshot !== null) {
    if (!(await mayStart(options, self, { claim, snapshot }))) return;
    // After a restart nobody has been noted yet.
    const newest = newestMessage(snapshot);
    if (newest !== null) noteAsker(options, self, askedIn(snapshot, newest));
    const slot = await slotFor(options, self.seat, claim);
    if (slot === null) return;
    try {
      snapshot = await runOne(options, self, { claim, snapshot });
    } finally {
      // Also if the store fails: without their slots, a person would not be answered again.
      leaveSlot(options, key, slot);
    }
    // A turn that was overtaken, for example by a deletion, leaves its reply owed, and is run again on the current
    // messages.
    claim = await claimOwedReply(options, cache, snapshot);
  }
}

type Owed = Pick<Opening, 'claim' | 'snapshot'>;

/** Runs one turn. Returns the view after it. */
async function runOne(options: ActorOptions, self: Self, { claim, snapshot }: Owed): Promise<ContextSnapshot | null> {
  const { cache, key } = self;
  const opening = { claim, snapshot: (await cache.current()) ?? snapshot, latest: cache.current };
  const end = await attempt(options, self, opening);
  if (end.kind === 'nothing') {
    cache.drop();
    return await cache.current();
  }
  cache.extend(end.result, end.result.entries);
  options.outbox.deliver(key, end.result.posts);
  keepBusy(self, end.account());
  self.turns.accompany(end.explain());
  const after = await cache.current();
  const { answeredUpto } = opening.snapshot.conversation;
  if (after !== null) options.watch.answered(after, end.verdict, seqsOfTurn(after, answeredUpto));
  return after;
}

/** The conversation counts as busy until the work has ended. */
function keepBusy({ turns, onError }: Self, work: Promise<void>): void {
  const ended = work.catch(onError);
  turns.put(() => ended);
}

/** A person who edits a message again and again must not cost a model call each time. */
async function mayStart(
  { services: { store, clock }, closing }: ActorOptions,
  { restarts }: Self,
  { claim, snapshot }: Owed,
): Promise<boolean> {
  const options = { conversations: store.conversations, clock, leaseMs: REPLY_LEASE_MS, signal: closing };
  return await waitToRestart(options, claim, restarts.of(snapshot.conversation.answeredUpto));
}

/** A failed turn leaves its reply owed and is retried later. */
async function attempt(options: ActorOptions, self: Self, opening: Omit<Opening, 'onGiven'>): Promise<ReplyEnd> {
  using limit = limitWork(options.signal);
  const running: Running = { claim: opening.claim, snapshot: opening.snapshot, limit, given: NOTHING_GIVEN };
  self.running = running;
  const onGiven = (given: Given) => {
    running.given = given;
  };
  try {
    const end = await reply({ ...options, signal: limit.signal }, { ...opening, onGiven });
    if (end.kind === 'nothing') self.restarts.add(opening.snapshot.conversation.answeredUpto);
    return end;
  } catch (error) {
    if (!options.signal.aborted) {
      await postpone(options.services, { ...opening, conversation: opening.snapshot.conversation, error });
    }
    return { kind: 'nothing' };
  } finally {
    self.running = null;
  }
}

/**
 * Ends a running turn that may not continue. Does not wait for the next renewal of its lease: until then it would show
 * text that must no longer be shown.
 */
async function endOvertaken({ services }: ActorOptions, { running }: Self): Promise<void> {
  if (running === null) return;
  if ((await standingOf(services, running)) === null) running.limit.abort(new Error('The reply claim was lost.'));
}

async function claimOwedReply(
  options: ActorOptions,
  cache: ViewCache,
  snapshot: ContextSnapshot | null,
): Promise<Claim | null> {
  if (snapshot === null || !owesReply(snapshot.conversation) || options.closing.aborted) return null;
  const { store, clock } = options.services;
  const request = {
    work: 'reply',
    conversationId: snapshot.conversation.id,
    now: clock.now(),
    leaseMs: REPLY_LEASE_MS,
  } as const;
  const won = await store.conversations.claim(request);
  if (won === null) return null;
  // A claim adds no entry.
  cache.extend({ ...won, previousActivityAt: won.conversation.lastActivityAt }, []);
  return won.claim;
}
