import { StrataError } from '../../domain/errors.ts';
import type { PostResult } from '../../hooks/hooks.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';

export interface Posting {
  readonly conversation: Pick<Conversation, 'key' | 'audience'>;
  readonly text: string;
  readonly isReply: boolean;
  /** Names. Default: none. */
  readonly files?: readonly string[];
  readonly signal?: AbortSignal;
}

/** What the hooks make of a post. Throws `HOOK_FAILED`. */
export async function throughPostHooks(
  { hooks, agents }: Pick<Services, 'hooks' | 'agents'>,
  { conversation: { key, audience }, text, isReply, files = [], ...limit }: Posting,
): Promise<PostResult> {
  const context = { conversation: key, audience, agentId: agents.agentFor(key).id, isReply, files };
  const result = await hooks.post({ context, change: { text }, ...limit }, async (changed) => ({
    kind: 'post',
    ...changed,
  }));
  if (result.kind === 'hold' || result.text.trim() !== '' || files.length > 0) return result;
  throw new StrataError('HOOK_FAILED', { hook: 'post', owner: 'a plugin', cause: 'it left nothing of the text' });
}

/** Replaces a withheld text in the transcript: the reason, never the text. */
export function heldNotice(reason: string): string {
  return `[A message was held back: ${reason}]`;
}
