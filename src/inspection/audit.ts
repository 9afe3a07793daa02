import { z } from 'zod';
import { describe } from '../domain/errors.ts';
import type { Services } from '../services.ts';
import { VIEWER_ROLES, type Viewer, type ViewerRole } from './viewer.ts';

/** One change that somebody made in the inspector. Never the text of people. */
export interface AuditRow {
  readonly at: number;
  readonly who: string;
  readonly role: ViewerRole;
  readonly action: string;
  /** What was changed: an id or a conversation's key. */
  readonly target: string;
  readonly outcome: 'done' | 'refused';
}

const rowSchema: z.ZodType<AuditRow> = z.object({
  at: z.number(),
  who: z.string(),
  role: z.enum(VIEWER_ROLES),
  action: z.string(),
  target: z.string(),
  outcome: z.enum(['done', 'refused']),
});

const NAMESPACE = 'inspector-audit';
const MAX_ROWS = 1000;

export interface Change {
  readonly viewer: Viewer;
  readonly action: string;
  readonly target: string;
}

type AuditServices = Pick<Services, 'state' | 'clock' | 'random' | 'log'>;

/** Runs a change and records it with its outcome, in the log and in the store. */
export async function audited<Result>(
  services: AuditServices,
  change: Change,
  work: () => Promise<Result>,
): Promise<Result> {
  let outcome: AuditRow['outcome'] = 'refused';
  try {
    const result = await work();
    outcome = 'done';
    return result;
  } finally {
    await record(services, change, outcome);
  }
}

async function record(
  { state, clock, random, log }: AuditServices,
  { viewer, action, target }: Change,
  outcome: AuditRow['outcome'],
): Promise<void> {
  const row = { at: clock.now(), who: viewer.name, role: viewer.role, action, target, outcome } satisfies AuditRow;
  log.info('inspector.change', row);
  try {
    await state.set(NAMESPACE, random.id(), row);
    const keys = (await state.list(NAMESPACE)).map(({ key }) => key).toSorted();
    for (const key of keys.slice(0, Math.max(0, keys.length - MAX_ROWS))) await state.delete(NAMESPACE, key);
  } catch (error) {
    // The log has the row, and the change is done or refused all the same.
    log.warn('inspector.unrecorded', { error: describe(error) });
  }
}

/** The changes of all processes, newest first. */
export async function auditRows({ state }: Pick<Services, 'state'>): Promise<readonly AuditRow[]> {
  const rows = (await state.list(NAMESPACE)).flatMap(({ value }) => rowSchema.safeParse(value).data ?? []);
  return rows.toSorted((a, b) => b.at - a.at);
}
