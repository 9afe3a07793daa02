import type { CommandServices } from '../../commands/services.ts';
import { conversationPath } from '../address.ts';
import { audited } from '../audit.ts';
import { readableSummary, type SummaryViewQuery } from './summary.ts';

/** Asks a worker for other words. Throws `NOT_FOUND`, `COMMAND_FORBIDDEN`, and `USAGE` if they are not possible. */
export async function rewriteSummary(
  services: CommandServices,
  { wish, ...query }: SummaryViewQuery & { readonly wish: string },
): Promise<void> {
  const target = conversationPath(query.key, `/s/${encodeURIComponent(query.id)}`);
  await audited(services, { viewer: query.viewer, action: 'summary rewrite', target }, async () => {
    const { conversation, summary } = await readableSummary(services, query);
    await services.rewrite(conversation, summary, wish);
  });
}
