import type { Finding as AdapterFinding } from '../../ports/upkeep.ts';

export interface Finding extends AdapterFinding {
  readonly checkId: CheckId;
}

/** `proxy` only if the environment names one. */
export type CheckId = (typeof CHECKS)[number] | 'proxy' | `channel.${string}` | `data.${string}` | `queue.${string}`;

export const CHECKS = ['node', 'config', 'prompts', 'data', 'disk', 'model', 'window', 'privacy'] as const;

export function ok(checkId: CheckId, message: string): Finding {
  return { checkId, severity: 'ok', message, fixHint: null };
}
