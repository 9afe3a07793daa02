import { StrataError } from '../../domain/errors.ts';
import type { StatementChange, StatementContext, StatementResult } from '../../hooks/hooks.ts';
import type { Services } from '../../services.ts';
import type { Requester } from '../rights/permissions.ts';

type Hooked = Pick<Services, 'hooks'>;

/** A statement after the hooks. Its admission comes afterwards, as for any other. */
export async function throughMemoryHooks(
  { hooks }: Hooked,
  context: StatementContext,
  change: StatementChange,
): Promise<StatementResult> {
  return await hooks.memory({ context, change }, async (changed) => ({ kind: 'save', ...changed }));
}

/** The same for a statement that a person asks to remember. Throws `HOOK_REFUSED`. */
export async function wordedByHooks(
  services: Hooked,
  { reader: { place, agentId, audience } }: Requester,
  said: StatementChange & Partial<Pick<StatementContext, 'kind' | 'about'>>,
): Promise<StatementChange> {
  const { kind = null, about = null, ...change } = said;
  const context = { place, agentId, audience, origin: 'person', kind, about } as const;
  const result = await throughMemoryHooks(services, context, change);
  if (result.kind === 'save') return result;
  throw new StrataError('HOOK_REFUSED', { what: 'to remember this', reason: result.reason });
}
