import type { Commands } from '../commands/commands.ts';
import { estimateParts } from '../context/measure/tokens.ts';
import type { Actors } from '../conversation/actors.ts';
import { dropErasures, isErased } from '../conversation/inbound/erased.ts';
import { createInboundHooks, type InboundHooks } from '../conversation/inbound/inbound-hooks.ts';
import { createNewestEdits } from '../conversation/inbound/newest-edits.ts';
import { createPendingEdits } from '../conversation/inbound/pending-edits.ts';
import type { HeldReplies } from '../conversation/posts/held-replies.ts';
import type { Outbox } from '../conversation/posts/outbox.ts';
import { cleanParts } from '../conversation/state/clean-parts.ts';
import { createKeptConversations } from '../conversation/state/kept-conversations.ts';
import type { ConversationKey } from '../domain/message.ts';
import { createOptOut } from '../memory/people/opt-out.ts';
import { withStoredAudience } from '../memory/rights/stored-audience.ts';
import type { ChannelSink, Drop, MessageEdit } from '../ports/channel.ts';
import type { Conversation } from '../ports/store.ts';
import { pagesOf } from '../util/async/conversation-pages.ts';
import { onDisk } from '../util/files/on-disk.ts';
import { cutParts, cutText } from './cut-text.ts';
import { createReceiver, dropOf, type ReceiverOptions } from './receive.ts';

export interface SinkOptions extends Omit<ReceiverOptions, 'inbound' | 'drop'> {
  readonly outbox: Pick<Outbox, 'deliver' | 'between'>;
  readonly actors: Actors;
  readonly commands: Commands;
  readonly held: HeldReplies;
}

/** The interface of the bot for its channels: every event is durable before its promise resolves. */
export function createSink(options: SinkOptions): ChannelSink {
  const { services, actors, commands } = options;
  const { store, clock, events } = services;
  const drop = (what: Drop) => events.emit({ kind: 'message.dropped', conversation: null, ...what });
  const pendingEdits = createPendingEdits();
  const newestEdits = createNewestEdits();
  const inbound = createInboundHooks(services);
  const receive = createReceiver({ ...options, inbound, drop });
  const { edited, removed, change } = createChanges(options, inbound);
  return {
    async message(given) {
      const heard = { ...given, text: cutText(given.text) };
      const message = await withStoredAudience(store, heard);
      const before = pendingEdits.of(message);
      if (before?.kind === 'removed' || (await isErased(services, message))) {
        drop({ ...dropOf(message), reason: 'deleted' });
        return { stored: false, willReply: false };
      }
      const receipt = await receive(message, before?.parts ?? null);
      const later = pendingEdits.of(message);
      if (later?.kind === 'removed') await removed({ ...message, externalIds: [message.externalId] });
      else if (later !== null && later !== before) await edited({ ...message, parts: later.parts });
      pendingEdits.release(message);
      return receipt;
    },
    async edited(given) {
      if (newestEdits.isOverdue(given)) return;
      const edit = { ...given, parts: cutParts(given.parts) };
      pendingEdits.hold(edit, { kind: 'edited', parts: edit.parts }, clock.now());
      if (await edited(edit)) pendingEdits.release(edit);
    },
    async removed({ conversation, externalIds }) {
      for (const externalId of externalIds)
        pendingEdits.hold({ conversation, externalId }, { kind: 'removed' }, clock.now());
      await removed({ conversation, externalIds });
    },
    commandSpecs: commands.specs,
    command: async (invocation) => {
      const reply = await commands.run(invocation);
      actors.peek(invocation.conversation)?.refresh();
      return reply;
    },
    suggest: (invocation, option) => commands.suggest(invocation, option),
    async audienceChanged(key, audience) {
      const rewrite = ({ id }: Conversation) =>
        store.conversations.change(id, { kind: 'audience', audience, now: clock.now() });
      await options.outbox.between(key, () => change(key, rewrite));
      actors.refreshBusy();
    },
    left: async (place) =>
      typeof place === 'string'
        ? await purgeConversation(options, place)
        : await purgeWorkspace(options, place.workspace),
    conversations: createKeptConversations(services),
    dropped: drop,
    catchingUp: options.held.hold,
  };
}

/** Edits and deletions of stored messages. */
function createChanges({ services, actors }: SinkOptions, inbound: InboundHooks) {
  const { store, events, clock, queue } = services;
  /** Runs if the conversation is known, and makes its actor apply the change. */
  const change = async (key: ConversationKey, work: (conversation: Conversation) => Promise<void>): Promise<void> => {
    const conversation = await store.conversations.find(key);
    if (conversation === null) return;
    await work(conversation);
    actors.peek(key)?.refresh();
  };
  return {
    change,
    /** Whether the message existed. */
    async edited(edit: Omit<MessageEdit, 'at'>): Promise<boolean> {
      const { conversation: key, externalId } = edit;
      let isKnown = false;
      await change(key, async ({ id, audience }) => {
        const written = await inbound.edit(edit, { id, audience });
        isKnown = written === null;
        if (written === null) return;
        const parts = cleanParts(written);
        const tokens = estimateParts(parts);
        isKnown = await store.transcript.edit(id, { externalId, parts, tokens, now: clock.now() });
        if (!isKnown) return;
        events.emit({ kind: 'message.edited', conversation: key, externalId });
        queue.kick(id);
      });
      return isKnown;
    },
    async removed({ conversation: key, externalIds }: Parameters<ChannelSink['removed']>[0]): Promise<void> {
      const { removeKeptQuotes, removeMessages } = await import('../memory/forget/removal.ts');
      for (const quoting of await removeKeptQuotes(services, key, externalIds)) {
        actors.peek(quoting.key)?.refresh();
        queue.kick(quoting.id);
      }
      await change(key, async (conversation) => {
        const { seqs, elsewhere } = await removeMessages(services, conversation, externalIds);
        if (seqs.length > 0) events.emit({ kind: 'message.removed', conversation: key, seqs });
        for (const other of [...(seqs.length > 0 ? [conversation] : []), ...elsewhere]) {
          actors.peek(other.key)?.refresh();
          queue.kick(other.id);
        }
      });
    },
  };
}

async function purgeConversation({ services: { store }, actors }: SinkOptions, key: ConversationKey): Promise<void> {
  const conversation = await store.conversations.find(key);
  // A redelivery, maybe of a deletion that is not on the disk yet.
  if (conversation === null) return await onDisk(store);
  await store.conversations.change(conversation.id, { kind: 'purge' });
  actors.peek(key)?.refresh();
}

/**
 * Deletes its conversations, then the memories and opt-outs that people set there by command, which may have no source
 * in them.
 */
async function purgeWorkspace({ services, actors }: SinkOptions, workspace: string): Promise<void> {
  const { store, state } = services;
  const scope = { within: workspace };
  for await (const { id, key } of pagesOf(store.conversations, { order: 'key', scope, withChildren: true })) {
    await store.conversations.change(id, { kind: 'purge' });
    actors.peek(key)?.refresh();
  }
  await store.memories.forget({ workspace });
  await createOptOut(state).purge(workspace);
  await dropErasures(services, workspace);
}
