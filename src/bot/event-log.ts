import type { StrataEvent } from '../ports/events.ts';
import type { Log, LogFields } from '../ports/log.ts';

type Level = keyof Log;

const LEVELS: { readonly [Kind in StrataEvent['kind']]?: Level } = {
  'turn.failed': 'warn',
  'turn.superseded': 'warn',
  'turn.delayed': 'warn',
  'model.mismatch': 'warn',
  'model.fallback': 'warn',
  'reply.delayed': 'warn',
  'reply.failed': 'error',
  'gap.opened': 'warn',
  'context.cut': 'warn',
  'context.refused': 'warn',
  'maintenance.delayed': 'warn',
  'breaker.opened': 'warn',
  'queue.trouble': 'warn',
  'config.rejected': 'warn',
  'loop.stalled': 'warn',
  'store.stalled': 'warn',
  'error.internal': 'error',
  'maintenance.ended': 'info',
  'stack.condensed': 'info',
  'memory.forgotten': 'info',
  'breaker.closed': 'info',
  'config.changed': 'info',
};

/**
 * Writes one structured line for each event. Events never contain the text of a message, so the log does not either.
 * The `message` of an event is logged as `cause`, because `message` is the name of the log line.
 */
export function logEvent(log: Log, event: StrataEvent): void {
  const { conversation, ...facts } = event;
  const fields = 'message' in facts ? causeFirst(facts) : flatten(facts);
  log[levelOf(event)](event.kind, conversation === null ? fields : { conversation, ...fields });
}

/** Messages that are ignored on purpose are logged at debug; unreadable ones are warnings. */
function levelOf(event: StrataEvent): Level {
  if (event.kind === 'message.dropped' && event.reason === 'malformed') return 'warn';
  if (event.kind === 'turn.ended' && event.cut !== null) return 'warn';
  // No text of the operator was cut.
  if (event.kind === 'context.cut' && event.parts === 'tools') return 'info';
  if (event.kind === 'config.changed' && event.waitsForRestart !== '') return 'warn';
  return LEVELS[event.kind] ?? 'debug';
}

function causeFirst({ message, ...facts }: { readonly message: string }): LogFields {
  return { cause: message, ...flatten(facts) };
}

/** Flattens nested facts into dotted names, and logs lists as their length. */
function flatten(value: object): LogFields {
  const fields: Record<string, LogFields[string]> = {};
  addFields(fields, value, '');
  return fields;
}

/** Every turn has timings: they are flattened into one object without lists. */
function addFields(fields: Record<string, LogFields[string]>, value: object, prefix: string): void {
  for (const [name, field] of Object.entries(value)) {
    if (name === 'kind' || name === 'at') continue;
    if (Array.isArray(field)) fields[prefix + name] = field.length;
    else if (typeof field === 'object' && field !== null) addFields(fields, field, `${prefix}${name}.`);
    else if (isPlain(field)) fields[prefix + name] = field;
  }
}

function isPlain(field: unknown): field is LogFields[string] {
  return field === null || typeof field === 'string' || typeof field === 'number' || typeof field === 'boolean';
}
