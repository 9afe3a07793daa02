import { describe, isStrataError } from '../../domain/errors.ts';
import { type AttachmentPart, type InboundMessage, type Part, textOf } from '../../domain/message.ts';
import type { InboundChange } from '../../hooks/hooks.ts';
import { createOrder } from '../../hooks/in-order.ts';
import type { MessageEdit } from '../../ports/channel.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';

/** The hooks' result for a message. */
export type Heard =
  | ({ readonly kind: 'keep' } & InboundChange)
  | { readonly kind: 'drop'; readonly reason: string }
  /** Stored, and answered without a model. */
  | ({ readonly kind: 'answer'; readonly answer: string } & InboundChange)
  /** Stored unchanged. */
  | ({ readonly kind: 'failed'; readonly message: string } & InboundChange);

/** Already stored: a redelivery runs no hooks. */
export interface Known {
  readonly kind: 'known';
  readonly seq: number;
}

/** The hooks for messages of people. Results keep the order of the calls within a conversation. */
export interface InboundHooks {
  message(message: InboundMessage): Promise<Heard | Known>;
  /** Null if the edit must not be applied. */
  edit(edit: Omit<MessageEdit, 'at'>, stored: Pick<Conversation, 'id' | 'audience'>): Promise<readonly Part[] | null>;
}

type HookServices = Pick<Services, 'hooks' | 'agents' | 'store' | 'events'>;

export function createInboundHooks(services: HookServices): InboundHooks {
  const inOrder = createOrder<string>();
  return {
    async message(message) {
      const { conversation, audience, author, externalId, addressesBot, text, attachments } = message;
      const said = { text, attachments };
      if (!services.hooks.has('inbound')) return { kind: 'keep', ...said };
      const about = { conversation, audience, author, externalId, addressesBot, isEdit: false };
      return await inOrder(conversation, runHooksUnlessStored(services, about, said));
    },
    async edit({ conversation, externalId, parts }, { id, audience }) {
      if (!services.hooks.has('inbound')) return parts;
      const author = (await services.store.transcript.byExternalId(id, externalId))?.author;
      // Without an author, the message is not stored yet, or is the bot's own.
      if (!author) return parts;
      const about = { conversation, audience, author, externalId, addressesBot: false, isEdit: true };
      const heard = await inOrder(conversation, runHooks(services, about, contentOf(parts)));
      if (heard.kind === 'drop') return null;
      if (heard.kind === 'failed') {
        services.events.emit({ kind: 'error.internal', conversation, message: heard.message });
      }
      return partsOf(heard);
    },
  };
}

interface About extends Pick<InboundMessage, 'conversation' | 'audience' | 'author' | 'externalId' | 'addressesBot'> {
  readonly isEdit: boolean;
}

async function runHooksUnlessStored(services: HookServices, about: About, said: InboundChange): Promise<Heard | Known> {
  const { conversations, transcript } = services.store;
  const known = await conversations.find(about.conversation);
  const entry = known === null ? null : await transcript.byExternalId(known.id, about.externalId);
  return entry === null ? await runHooks(services, about, said) : { kind: 'known', seq: entry.seq };
}

/** An answer is stored with the message as the last hook received it. */
async function runHooks({ hooks, agents }: HookServices, about: About, said: InboundChange): Promise<Heard> {
  let received = said;
  const onLayer = (change: InboundChange) => {
    received = change;
  };
  const context = { ...about, agentId: agents.agentFor(about.conversation).id };
  try {
    const call = { context, change: said, onLayer };
    const result = await hooks.inbound(call, async (change) => ({ kind: 'keep', ...change }));
    return result.kind === 'answer' ? { ...received, kind: 'answer', answer: result.text } : result;
  } catch (error) {
    if (!isStrataError(error, 'HOOK_FAILED')) throw error;
    return { ...said, kind: 'failed', message: describe(error) };
  }
}

export function contentOf(parts: readonly Part[]): InboundChange {
  const attachments = parts.filter((part): part is AttachmentPart => part.kind === 'attachment');
  return { text: textOf(parts), attachments };
}

export function partsOf({ text, attachments }: InboundChange): readonly Part[] {
  return [...(text === '' ? [] : [{ kind: 'text', text } as const]), ...attachments];
}
