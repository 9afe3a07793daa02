import type { CommandServices } from '../commands/services.ts';
import { findConversation } from '../conversation/find-conversation.ts';
import { describe, isStrataError, StrataError } from '../domain/errors.ts';
import type { ModelMessage } from '../ports/model.ts';
import { MAX_SYSTEM_LENGTH, type Rerun, type RerunChoice, rerunReply, systemTextOf } from '../requests/rerun.ts';
import { conversationPath } from './address.ts';
import { audited } from './audit.ts';
import { type ReplyQuery, type ReplyView, replyView } from './reply.ts';
import { assertOperator } from './viewer.ts';

export interface RerunQuery extends ReplyQuery {
  readonly agentId: string;
  readonly modelId: string;
  /** The system prompt to send; null for the one of the reply. */
  readonly system: string | null;
  /** Aborts when the viewer leaves. */
  readonly signal: AbortSignal;
}

/** The reply beside what another model or prompt makes of its request. */
export interface RerunView {
  readonly reply: ReplyView;
  readonly result: Rerun | { readonly choice: RerunChoice; readonly failure: string };
  /** The system prompt that was sent in the place of the original; null if it was the original. */
  readonly edited: string | null;
}

export interface Reruns {
  /** For operators. Recorded. Throws `COMMAND_FORBIDDEN`, `NOT_FOUND` and `USAGE`; the model's failure is a result. */
  run(query: RerunQuery): Promise<RerunView>;
}

/** At the same time in this process. */
const MAX_RUNNING = 2;

export function createReruns(services: CommandServices): Reruns {
  let running = 0;
  return {
    async run(query) {
      const target = conversationPath(query.key, `/r/${query.seq}`);
      return await audited(services, { viewer: query.viewer, action: 'reply rerun', target }, async () => {
        assertOperator(query.viewer, 'Running a reply again');
        if (running >= MAX_RUNNING)
          throw new StrataError('USAGE', { problem: 'Other replies are being run again. Try again after them.' });
        running += 1;
        try {
          return await rerun(services, query);
        } finally {
          running -= 1;
        }
      });
    },
  };
}

async function rerun(services: CommandServices, query: RerunQuery): Promise<RerunView> {
  const { agentId, modelId, system, signal, ...whose } = query;
  if (system !== null && system.length > MAX_SYSTEM_LENGTH)
    throw new StrataError('USAGE', { problem: `The system prompt is longer than ${MAX_SYSTEM_LENGTH} characters.` });
  const reply = await replyView(services, whose);
  const conversation = await findConversation(services, query.key);
  const { explained } = reply;
  const isSame = system === null || system.trim() === systemTextOf(explained).trim();
  const edited = isSame ? null : system;
  const choice = { agentId, modelId };
  try {
    const loadImages = (messages: readonly ModelMessage[]) =>
      services.loadImages(conversation.key, messages, { signal });
    const sent = { conversation, explained, choice, system: edited, loadImages, signal };
    return { reply, edited, result: await rerunReply(services, sent) };
  } catch (error) {
    if (!FAILURES.some((code) => isStrataError(error, code))) throw error;
    return { reply, edited, result: { choice, failure: describe(error) } };
  }
}

const FAILURES = [
  'MODEL_FAILED',
  'MODEL_UNKNOWN',
  'MODEL_KEY_MISSING',
  'MODEL_KEY_INVALID',
  'SPEND_CAPPED',
  'PACKAGE_MISSING',
  'HOOK_FAILED',
] as const;
