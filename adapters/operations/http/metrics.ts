import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import {
  type Conversation,
  createRecentMap,
  type EventOf,
  HOUR_MS,
  type Services,
  type StrataEvent,
} from '../../../src/adapter-kit.ts';

/** Buckets for replies and summaries: from a tenth of a second to some minutes. */
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320];

/** Everything counted from the events of this process. Names of conversations and people are never labels. */
function createCounts(registry: Registry) {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name: `strata_${name}`, help, labelNames, registers });
  const seconds = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Histogram({ name: `strata_${name}_seconds`, help, labelNames, buckets: SECONDS, registers });
  return {
    messages: counter('messages_total', 'Received messages; a duplicate is a redelivery', ['kind']),
    drops: counter('messages_dropped_total', 'Platform messages that were not stored', ['platform', 'reason']),
    turns: counter('turns_total', 'Turns by outcome', ['outcome', 'reason']),
    turnSeconds: seconds('turn', 'Duration of a turn, including model calls'),
    replySeconds: seconds('reply', 'Time from a message to the first post of its reply'),
    posts: counter('posts_total', 'Posts by outcome; a delayed one is retried', ['outcome']),
    calls: counter('model_calls_total', 'Model calls', ['purpose', 'model']),
    tokens: counter('model_tokens_total', 'Tokens used', ['purpose', 'model', 'direction']),
    dollars: counter('model_cost_dollars_total', 'Cost of model calls in US dollars', ['purpose', 'model']),
    unpriced: counter('model_unpriced_calls_total', 'Calls of models without a known price', ['purpose', 'model']),
    losses: counter('cache_losses_total', 'Requests that lost a part of the prefix cache', ['model', 'cause']),
    lostTokens: counter('cache_lost_tokens_total', 'Tokens that were not read from the prefix cache', [
      'model',
      'cause',
    ]),
    callSeconds: seconds('model_call', 'Duration of a model call', ['purpose']),
    runs: counter('maintenance_runs_total', 'Maintenance runs; a stale one changed nothing', [
      'work',
      'trigger',
      'outcome',
    ]),
    runSeconds: seconds('maintenance', 'Duration of a maintenance run', ['work']),
    specifics: counter('summary_specifics_total', 'Names, numbers, links, dates and promises of summarised messages', [
      'outcome',
    ]),
    delays: counter('maintenance_failures_total', 'Maintenance failures, each followed by a delay'),
    gaps: counter('gaps_total', 'Ranges removed from the view without a summary', ['reason']),
    memories: counter('memories_total', 'Changes to memories, by kind', ['outcome']),
    tools: counter('tool_calls_total', 'Tool calls', ['tool', 'outcome']),
    troubles: counter('troubles_total', 'Reported problems', ['kind']),
  };
}
type Counts = ReturnType<typeof createCounts>;

function count(counts: Counts, event: StrataEvent): void {
  switch (event.kind) {
    case 'message.accepted':
    case 'message.duplicate':
      counts.messages.inc({ kind: event.kind.slice('message.'.length) });
      break;
    case 'message.dropped':
      counts.drops.inc({ platform: event.platform, reason: event.reason });
      break;
    case 'turn.ended':
      counts.turnSeconds.observe(event.durationMs / 1000);
      counts.turns.inc({ outcome: 'ended', reason: event.cut ?? '' });
      break;
    case 'turn.failed':
      counts.turns.inc({ outcome: 'failed', reason: event.reason });
      break;
    case 'turn.superseded':
    case 'turn.delayed':
      counts.turns.inc({ outcome: event.kind.slice('turn.'.length), reason: '' });
      break;
    case 'reply.posted':
    case 'reply.delayed':
    case 'reply.failed':
      counts.posts.inc({ outcome: event.kind.slice('reply.'.length) });
      break;
    case 'tool.called':
      counts.tools.inc({ tool: event.tool ?? '(not offered)', outcome: event.isError ? 'error' : 'done' });
      break;
    case 'model.fallback':
    case 'context.refused':
    case 'queue.trouble':
    case 'error.internal':
    case 'config.rejected':
    case 'breaker.opened':
    case 'loop.stalled':
    case 'store.stalled':
      counts.troubles.inc({ kind: event.kind });
      break;
    case 'model.called':
      countCall(counts, event);
      break;
    case 'cache.lost': {
      const { model, cause, tokens } = event;
      counts.losses.inc({ model, cause });
      counts.lostTokens.inc({ model, cause }, tokens);
      break;
    }
    default:
      countUpkeep(counts, event);
  }
}

function countCall(counts: Counts, event: EventOf<'model.called'>): void {
  const { calls, callSeconds, tokens, dollars, unpriced } = counts;
  const { purpose, model, usage, costUsd } = event;
  calls.inc({ purpose, model });
  if (costUsd === null) unpriced.inc({ purpose, model });
  else dollars.inc({ purpose, model }, costUsd);
  callSeconds.observe({ purpose }, event.durationMs / 1000);
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const byDirection = {
    input: inputTokens,
    output: outputTokens,
    cache_read: cacheReadTokens,
    cache_write: cacheWriteTokens,
    reasoning: reasoningTokens,
  };
  for (const [direction, amount] of Object.entries(byDirection)) tokens.inc({ purpose, model, direction }, amount);
}

function countUpkeep(counts: Counts, event: StrataEvent): void {
  switch (event.kind) {
    case 'maintenance.ended': {
      const { work, trigger, outcome, durationMs } = event.run;
      counts.runs.inc({ work, trigger, outcome });
      counts.runSeconds.observe({ work }, durationMs / 1000);
      break;
    }
    case 'summary.written':
      counts.specifics.inc({ outcome: 'kept' }, event.kept);
      counts.specifics.inc({ outcome: 'left_out' }, event.specifics - event.kept);
      break;
    case 'maintenance.delayed':
      counts.delays.inc();
      break;
    case 'gap.opened':
      counts.gaps.inc({ reason: event.reason });
      break;
    case 'memory.saved':
      counts.memories.inc({ outcome: 'saved' }, event.ids.length);
      break;
    case 'memory.refused':
      counts.memories.inc({ outcome: 'refused' });
      break;
    case 'memory.forgotten':
      counts.memories.inc({ outcome: 'forgotten' }, event.ids.length);
      break;
    default:
  }
}

/** Maximum number of conversations timed at once: the newest. */
const MAX_AWAITED = 10_000;
/** Nobody waits for longer. Such a reply was withheld or given up, or another process has posted it. */
const MAX_AWAITED_MS = 2 * HOUR_MS;

/** Time from the oldest waiting message to the first post. */
function createWaits(counts: Pick<Counts, 'replySeconds'>): (event: StrataEvent) => void {
  const since = createRecentMap<string, number>(MAX_AWAITED);
  return (event) => {
    const { conversation, at } = event;
    if (conversation === null) return;
    if (event.kind === 'message.accepted' && event.wantsReply) {
      const known = since.get(conversation);
      if (known === undefined || at - known > MAX_AWAITED_MS) since.set(conversation, at);
    } else if (event.kind === 'reply.posted') {
      const asked = since.get(conversation);
      if (asked !== undefined) counts.replySeconds.observe((at - asked) / 1000);
      since.delete(conversation);
    }
  };
}

export type MeasuredServices = Pick<Services, 'store' | 'queue' | 'clock' | 'events'>;

const DUE_LOOKED_AT = 500;
const RECENT_LOOKED_AT = 500;

/** The state of the store and the queue at the time of the request. */
function createGauges(registry: Registry): (services: MeasuredServices) => Promise<void> {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `strata_${name}`, help, labelNames, registers: [registry] });
  const jobs = gauge('queue_jobs', 'Jobs of the queue, as seen by this process', ['state']);
  const reachable = gauge('queue_reachable', '1 while the queue is reachable');
  const due = gauge('maintenance_due', `Conversations with due, unclaimed work, counted up to ${DUE_LOOKED_AT}`);
  const dueAge = gauge('maintenance_due_oldest_seconds', 'Age of the oldest of them');
  const owed = gauge(
    'replies_owed',
    `Conversations that are owed a reply no process is working on, up to ${DUE_LOOKED_AT}`,
  );
  const unsent = gauge('posts_pending', 'Posts that no platform has accepted yet');
  const measureTails = createTailGauges(gauge);
  return async ({ store, queue, clock }) => {
    const now = clock.now();
    const { waiting, running, delayed, trouble } = queue.stats();
    for (const [state, amount] of Object.entries({ waiting, running, delayed })) jobs.set({ state }, amount);
    reachable.set(trouble === null ? 1 : 0);
    const limit = DUE_LOOKED_AT;
    const [maintenance, reply, posts, recent] = await Promise.all([
      store.conversations.due('maintenance', { now, limit }),
      store.conversations.due('reply', { now, limit }),
      store.outbox.pending(null),
      store.conversations.list(RECENT),
    ]);
    due.set(maintenance.length);
    dueAge.set(Math.max(0, ...maintenance.map(({ maintainAt }) => (now - (maintainAt ?? now)) / 1000)));
    owed.set(reply.length);
    unsent.set(posts.length);
    await measureTails(recent, { store, now });
  };
}

/** Conversations with recent messages of people. */
const RECENT = { order: 'heard', scope: { within: null }, limit: RECENT_LOOKED_AT, after: null } as const;

type MakeGauge = <Label extends string>(name: string, help: string, labelNames?: readonly Label[]) => Gauge<Label>;

/** Unsummarised tails: the longest, a long one, and the age of the longest. */
function createTailGauges(gauge: MakeGauge) {
  const length = gauge('tail_entries', `Entries after the summaries, of the ${RECENT_LOOKED_AT} newest conversations`, [
    'of',
  ]);
  const age = gauge('tail_oldest_seconds', 'Age of the first entry in the longest of these tails');
  return async (
    recent: readonly Conversation[],
    { store, now }: { readonly store: Services['store']; readonly now: number },
  ): Promise<void> => {
    const tails = recent
      .map(({ id, nextSeq, compactedUpto, contextFrom }) => {
        const fromSeq = Math.max(compactedUpto + 1, contextFrom);
        return { id, fromSeq, length: nextSeq - fromSeq };
      })
      .sort((one, other) => one.length - other.length);
    length.set({ of: 'max' }, tails.at(-1)?.length ?? 0);
    length.set({ of: 'p95' }, tails[Math.floor(tails.length * 0.95)]?.length ?? 0);
    const { id = 0, fromSeq = 1 } = tails.at(-1) ?? {};
    const [first] = await store.transcript.read(id, { fromSeq, toSeq: fromSeq, limit: 1 });
    age.set(first === undefined ? 0 : (now - first.at) / 1000);
  };
}

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  close(): void;
}

export function createMetrics(services: MeasuredServices): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counts = createCounts(registry);
  const wait = createWaits(counts);
  const measure = createGauges(registry);
  const leave = services.events.on((event) => {
    count(counts, event);
    wait(event);
  });
  return {
    contentType: registry.contentType,
    async text() {
      await measure(services);
      return await registry.metrics();
    },
    close() {
      leave();
      registry.clear();
    },
  };
}
