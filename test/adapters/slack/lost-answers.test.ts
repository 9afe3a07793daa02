import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Clock, ConversationKey, StateStore } from '../../../src/adapter-kit.ts';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import { ADA, DIRECT, type Failure, type Fields, type SlackDouble, TEAM } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { createState, openChannel, recordSink } from '../../fixtures/slack/kit.ts';
import { SIZED, sized } from '../../support/size.ts';

/** Any answer of Slack is lost, and the process is killed at any call: one whole reply is left, and nothing else. */

let slack: SlackDouble;
slackForEachTest((fresh) => {
  slack = fresh;
});

const FAILURES = {
  lost: { lost: true },
  late: { late: 100 },
  away: { status: 500 },
} as const satisfies Record<string, Failure>;
type Fault = keyof typeof FAILURES | null;

interface Kill {
  /** At which call of the process. */
  readonly at: number;
  /** Whether Slack processes that call. */
  readonly isHeard: boolean;
}

interface Scenario {
  /** For each method, what happens to its first calls. */
  readonly faults: Readonly<Record<string, readonly Fault[]>>;
  readonly kills: readonly Kill[];
  /** Slack accepts words alone. */
  readonly isPlain: boolean;
  /** The draft shows the whole reply already. */
  readonly isWhole: boolean;
  /** An earlier reply in words alone, in the same thread. */
  readonly hasEarlier: boolean;
}

const WRITES = [
  'chat.startStream',
  'chat.appendStream',
  'chat.stopStream',
  'chat.update',
  'chat.postMessage',
  'chat.delete',
];
const fault = fc.constantFrom<Fault>(null, null, 'lost', 'late', 'away');
const scenario: fc.Arbitrary<Scenario> = fc.record({
  faults: fc.record(Object.fromEntries(WRITES.map((method) => [method, fc.array(fault, { maxLength: 2 })]))),
  kills: fc.array(fc.record({ at: fc.integer({ min: 1, max: 9 }), isHeard: fc.boolean() }), { maxLength: 2 }),
  isPlain: fc.boolean(),
  isWhole: fc.boolean(),
  hasEarlier: fc.boolean(),
});

const WHOLE = 'Once upon a time.';
const EARLIER = 'An earlier answer.';
const MAX_ATTEMPTS = 8;
/** Whoever calls nothing for this long has nothing left to do. */
const QUIET_MS = 1_200;
let processes = 0;

/** Waits are ten times as short. */
function quickClock(): Clock {
  const clock = createSystemClock();
  return { now: clock.now, sleep: (ms, options) => clock.sleep(ms / 10, options) };
}

interface Life {
  readonly post: (text: string, attempt: number) => Promise<boolean>;
  readonly show: (text: string) => Promise<void>;
  /** Whether it was killed before. */
  readonly end: () => Promise<boolean>;
  readonly isDead: () => boolean;
}

interface World {
  readonly conversation: ConversationKey;
  readonly state: StateStore;
  readonly faults: Map<string, Fault[]>;
  readonly isPlain: boolean;
}

/** One process. After its kill, nothing that it does reaches Slack or the store. */
async function live({ conversation, state, faults, isPlain }: World, kill: Kill | null): Promise<Life> {
  processes += 1;
  const name = `process${processes}`;
  const over = new AbortController();
  let isDead = false;
  let calls = 0;
  slack.gates.set(name, (method: string, body: Fields): Failure | null => {
    if (isDead) return { status: 503 };
    if (!method.startsWith('chat.') && method !== 'conversations.replies') return null;
    calls += 1;
    if (calls === kill?.at) {
      isDead = true;
      over.abort();
      return kill.isHeard ? { lost: true } : { status: 503 };
    }
    if (isPlain && body['metadata'] !== undefined) return { error: 'metadata_too_large' };
    const next = faults.get(method)?.shift() ?? null;
    return next === null ? null : FAILURES[next];
  });
  const never = new Promise<never>(() => undefined);
  const alive =
    <Args extends readonly unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      isDead ? never : work(...args);
  const own: StateStore = {
    ...state,
    get: alive(state.get),
    set: alive(state.set),
    delete: alive(state.delete),
    list: alive(state.list),
  };
  const table = { streaming: true, streaming_seconds: 0.1, catch_up: { messages: 0 }, sockets: 1 };
  const opened = openChannel({ apiUrl: slack.processUrl(name) }, { state: own, clock: quickClock(), table });
  const killed = new Promise<false>((resolve) => over.signal.addEventListener('abort', () => resolve(false)));
  await Promise.race([killed, opened.channel.start(recordSink())]);
  return {
    isDead: () => isDead,
    async post(text, attempt) {
      const body = { kind: 'text', text } as const;
      const sent = opened.channel.post({ conversation, nonce: text, body, replyTo: null, attempt }, over);
      return await Promise.race([
        killed,
        sent.then(
          () => true,
          () => false,
        ),
      ]);
    },
    async show(text) {
      const before = calls;
      opened.channel.show(conversation, { kind: 'draft', text });
      for (let turn = 0; turn < 30 && calls === before && !isDead; turn += 1) await delay(5);
      await delay(20);
    },
    async end() {
      opened.channel.show(conversation, { kind: 'idle' });
      for (let before = -1; !isDead && before !== calls; await delay(QUIET_MS)) before = calls;
      const wasKilled = isDead;
      isDead = true;
      void opened.channel.stop().catch(() => undefined);
      return wasKilled;
    },
  };
}

/** What is left in the thread. */
async function play({ faults, kills, isPlain, isWhole, hasEarlier }: Scenario): Promise<readonly unknown[]> {
  const { ts } = slack.store(DIRECT, ADA, 'Tell me a story.');
  const conversation = `slack:${TEAM}:${DIRECT}:${ts}` as ConversationKey;
  const base = { conversation, state: createState(), isPlain };
  if (hasEarlier) {
    const life = await live({ ...base, faults: new Map(), isPlain: true }, null);
    await life.post(EARLIER, 1);
    await life.end();
  }
  const world = { ...base, faults: new Map(Object.entries(faults).map(([method, all]) => [method, [...all]])) };
  let attempt = 0;
  let isPosted = false;
  for (const kill of [...kills, null]) {
    const life = await live(world, kill);
    // The turn had not committed, so it runs again.
    if (attempt === 0) {
      await life.show(isWhole ? WHOLE : 'Once');
      if (!life.isDead()) await life.show(isWhole ? WHOLE : 'Once upon');
    }
    while (!isPosted && !life.isDead() && attempt < MAX_ATTEMPTS) {
      attempt += 1;
      isPosted = await life.post(WHOLE, attempt);
    }
    const wasKilled = await life.end();
    if (isPosted && !wasKilled) break;
  }
  return slack
    .posted(DIRECT)
    .filter(({ thread_ts: thread }) => thread === ts)
    .map(({ text }) => text);
}

test('every lost answer and kill leaves one whole reply', { ...SIZED, timeout: 900_000 }, async () => {
  const runs = sized({ small: 24, full: 80 });
  const scenarios = fc.sample(scenario, { numRuns: runs });
  const bad: unknown[] = [];
  const queue = [...scenarios];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const left = await play(next);
      const expected = [...(next.hasEarlier ? [EARLIER] : []), WHOLE];
      if (JSON.stringify(left) !== JSON.stringify(expected)) bad.push({ scenario: next, left });
    }
  };
  await Promise.all(Array.from({ length: 10 }, work));
  expect(bad).toEqual([]);
});
