import type { StrataEvent } from '../ports/events.ts';
import type { MaintenanceRun } from '../ports/journal.ts';
import { counted, formatNumber } from '../util/text/text.ts';

/** A short text about an event for the terminal; null for messages, calls and other frequent events. */
export function eventText(event: StrataEvent): string | null {
  switch (event.kind) {
    case 'context.tier':
      return `tier ${event.tier}`;
    case 'gap.opened':
      return `#${event.fromSeq}–#${event.toSeq} → gap (${event.reason})`;
    case 'stack.condensed':
      return `${event.parts} summaries → one of level ${event.level}`;
    case 'memory.saved':
      return `${counted(event.ids.length, 'memory', 'memories')} saved`;
    case 'maintenance.ended':
      return runText(event.run);
    case 'maintenance.delayed':
      return `delayed after ${event.failures} failures: ${event.message}`;
    case 'turn.failed':
      return `turn failed (${event.reason}): ${event.message}`;
    case 'model.fallback':
      return `${event.model} did not answer, asking ${event.next}: ${event.message}`;
    case 'breaker.opened':
      return `${event.model} paused: ${event.message}`;
    default:
      return null;
  }
}

function runText({ work, fromSeq, toSeq, outcome, trigger, tokensBefore, tokensAfter }: MaintenanceRun): string {
  const range = `#${fromSeq}–#${toSeq}`;
  if (outcome !== 'committed') return `${work} ${range} ${outcome} (${trigger})`;
  if (work === 'condense')
    return `${range} condensed (${trigger}), ~${formatNumber(tokensBefore)} → ~${formatNumber(tokensAfter)} tokens`;
  if (work === 'extract') return `${range} read for memories (${trigger})`;
  return `${range} → summary (${trigger}), ~${formatNumber(tokensBefore)} → ~${formatNumber(tokensAfter)} tokens`;
}
