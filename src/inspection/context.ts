import type { CommandServices } from '../commands/services.ts';
import type { ContextReport } from '../context/inspection.ts';
import { findConversation } from '../conversation/find-conversation.ts';
import { assertMayRead, type Viewer } from './viewer.ts';

/** The next request of a conversation, part by part with its text. */
export interface ContextView {
  readonly key: string;
  readonly report: ContextReport;
}

/** The next request, part by part, with its text. */
export async function contextView(
  services: CommandServices,
  { viewer, key }: { readonly viewer: Viewer; readonly key: string },
): Promise<ContextView> {
  const conversation = await findConversation(services, key);
  assertMayRead(viewer, conversation.audience, 'The text of requests');
  return { key: conversation.key, report: await services.inspect(conversation) };
}
