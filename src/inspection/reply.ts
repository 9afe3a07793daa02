import type { CommandServices } from '../commands/services.ts';
import { findConversation } from '../conversation/find-conversation.ts';
import { textOf } from '../domain/message.ts';
import { readerIn } from '../memory/rights/policy.ts';
import { diffRequests, type RequestDiff } from '../requests/diff.ts';
import { type ExplainedReply, exactnessText, explainReply } from '../requests/explain.ts';
import { type RerunChoice, rerunChoices } from '../requests/rerun.ts';
import { assertMayRead, type Viewer } from './viewer.ts';

export interface ReplyQuery {
  readonly viewer: Viewer;
  readonly key: string;
  /** Of the reply, or of a message that it answers. */
  readonly seq: number;
}

/** The request behind a reply, and how it differs from the one before. */
export interface ReplyView {
  readonly explained: ExplainedReply;
  /** Whether this is exactly what the model saw, as a sentence. */
  readonly exactness: string;
  /** Null for the first reply. */
  readonly diff: RequestDiff | null;
  /** What the bot wrote. */
  readonly text: string;
  readonly outputTokens: number;
  /** The models that it can be run with again; null for those who may not. */
  readonly choices: readonly RerunChoice[] | null;
}

/** Memories appear as far as the place may read them. Throws `NOT_FOUND` if the request was not recorded. */
export async function replyView(services: CommandServices, { viewer, key, seq }: ReplyQuery): Promise<ReplyView> {
  const conversation = await findConversation(services, key);
  assertMayRead(viewer, conversation.audience, 'The text of requests');
  const reader = readerIn(conversation, services);
  const explained = await explainReply(services, { conversation, seq, reader });
  const { previousSeq } = explained;
  const range = { fromSeq: explained.seq, toSeq: explained.seq, limit: 1 };
  const [entry] = await services.store.transcript.read(conversation.id, range);
  const before =
    previousSeq === null
      ? null
      : await explainReply(services, { conversation, seq: previousSeq, reader }).catch(() => null);
  return {
    explained,
    exactness: exactnessText(explained),
    diff: before === null ? null : diffRequests(before.blocks, explained.blocks),
    text: textOf(entry?.parts ?? []),
    outputTokens: entry?.tokens ?? 0,
    choices: viewer.role === 'operator' ? await rerunChoices(services) : null,
  };
}
