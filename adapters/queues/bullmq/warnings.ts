import type { Log } from '../../../src/adapter-kit.ts';

/** How the messages begin that BullMQ and ioredis print to the console. They have no setting for it. */
const BEGINNINGS = [
  ...['IMPORTANT! Eviction policy is', 'It is highly recommended to use a minimum Redis version', 'BullMQ: '],
  ...['[ioredis] ', '[WARN] Redis server does not', '[WARN] This Redis server', '[WARN] replyMapping "resp3"'],
  ...['[ERROR] The server returned "wrong number of arguments', 'Skipping the ready check because INFO'],
];

/** The warnings in each log: every connection repeats them. */
const logs = new Map<Log, Set<string>>();
let isRouted = false;

/** Their warnings go to the log, each of them once, until the returned function is called. */
export function routeWarnings(log: Log): () => void {
  logs.set(log, new Set());
  if (!isRouted) for (const method of ['warn', 'error'] as const) route(method);
  isRouted = true;
  return () => void logs.delete(log);
}

function route(method: 'warn' | 'error'): void {
  const output = globalThis.console;
  const print = output[method].bind(output);
  output[method] = (...values: unknown[]) => {
    const [text] = values;
    const isTheirs = typeof text === 'string' && BEGINNINGS.some((beginning) => text.startsWith(beginning));
    if (isTheirs && logs.size > 0) tell(text);
    else print(...values);
  };
}

function tell(text: string): void {
  const warning = text.replace(/\s+/g, ' ').trim();
  for (const [log, told] of logs) {
    if (told.has(warning)) continue;
    told.add(warning);
    log.warn('queue.warning', { warning });
  }
}
