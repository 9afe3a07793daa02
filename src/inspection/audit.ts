import { z } from 'zod';
import { describe } from '../domain/errors.ts';
import type { Services } from '../services.ts';
import { VIEWER_ROLES, type Viewer, type ViewerRole } from './viewer.ts';

/** A change that was made in the inspector. Never contains the text of people. */
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
/** An address may name anything as the target of a change. */
const MAX_TARGET_LENGTH = 200;

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
  const what = { action, target: target.slice(0, MAX_TARGET_LENGTH).toWellFormed() };
  const row = { at: clock.now(), who: viewer.name, role: viewer.role, ...what, outcome } satisfies AuditRow;
  log.info('inspector.change', row);
  try {
    await state.set(NAMESPACE, random.id(), row);
    for (const key of superfluous(await state.list(NAMESPACE))) await state.delete(NAMESPACE, key);
  } catch (error) {
    // The log has the row, and the change is done or refused all the same.
    log.warn('inspector.unrecorded', { error: describe(error) });
  }
}

/** The oldest rows of whoever has the most, so that nobody pushes out what others did. */
function superfluous(kept: readonly { readonly key: string; readonly value: unknown }[]): readonly string[] {
  const sorted = kept.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const rows = sorted.map(({ key, value }) => ({ key, who: rowSchema.safeParse(value).data?.who ?? '' }));
  const byPerson = [...Map.groupBy(rows, ({ who }) => who).values()].map((own) => own.map(({ key }) => key));
  return Array.from({ length: Math.max(0, kept.length - MAX_ROWS) }).flatMap(() => {
    const longest = byPerson.reduce((most, own) => (own.length > most.length ? own : most), []);
    return longest.shift() ?? [];
  });
}

/** The changes of all processes, newest first. */
export async function auditRows({ state }: Pick<Services, 'state'>): Promise<readonly AuditRow[]> {
  const rows = (await state.list(NAMESPACE)).flatMap(({ value }) => rowSchema.safeParse(value).data ?? []);
  return rows.toSorted((a, b) => b.at - a.at);
}
