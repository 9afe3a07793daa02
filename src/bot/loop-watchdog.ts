import { performance } from 'node:perf_hooks';
import type { ConversationKey } from '../domain/message.ts';
import type { EventKind, Events } from '../ports/events.ts';

const TICK_MS = 100;
/** A tick that is later than this was delayed by work that blocked the loop. Shorter delays are unnoticeable. */
const MAX_LATE_MS = 200;
/** Events kept per tick. The longest pause between them identifies a stall, and the first events are enough. */
const MAX_MARKS = 1_000;

interface Mark {
  readonly kind: EventKind | null;
  readonly conversation: ConversationKey | null;
  readonly at: number;
}

/**
 * Emits `loop.stalled` when something blocked the event loop. The culprit ran between two events, so the event reports
 * the longest pause between them and the conversation being served. Returns a function that stops the watchdog.
 */
export function watchLoop(events: Events): () => void {
  let marks: Mark[] = [];
  let last: Mark = { kind: null, conversation: null, at: performance.now() };
  let cpu = process.threadCpuUsage();
  const unsubscribe = events.on(({ kind, conversation }) => {
    if (marks.length < MAX_MARKS && kind !== 'loop.stalled') marks.push({ kind, conversation, at: performance.now() });
  });
  const timer = setInterval(() => {
    const tick = { kind: null, conversation: null, at: performance.now() };
    const used = process.threadCpuUsage(cpu);
    const durationMs = Math.round(tick.at - last.at - TICK_MS);
    if (durationMs > MAX_LATE_MS) {
      const stall = longestPause([last, ...marks, tick]);
      events.emit({ kind: 'loop.stalled', durationMs, cpuMs: Math.round((used.user + used.system) / 1000), ...stall });
    }
    last = { ...(marks.at(-1) ?? last), at: tick.at };
    marks = [];
    cpu = process.threadCpuUsage();
  }, TICK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    unsubscribe();
  };
}

interface Pause {
  readonly after: EventKind | null;
  readonly before: EventKind | null;
  readonly conversation: ConversationKey | null;
}

function longestPause(marks: readonly Mark[]): Pause {
  let longest = -1;
  let found: Pause = { after: null, before: null, conversation: null };
  for (const [index, next] of marks.entries()) {
    const mark = marks[index - 1];
    if (mark === undefined || next.at - mark.at <= longest) continue;
    longest = next.at - mark.at;
    found = { after: mark.kind, before: next.kind, conversation: next.conversation ?? mark.conversation };
  }
  return found;
}
