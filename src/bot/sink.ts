import type { Commands } from '../commands/commands.ts';
import { idleMsOf } from '../config/directory.ts';
import { estimateParts } from '../context/tokens.ts';
import type { Actors } from '../conversation/actors.ts';
import { createBotGuard } from '../conversation/bot-guard.ts';
import { cleanAuthor, cleanParts } from '../conversation/clean-parts.ts';
import { decide } from '../conversation/decide.ts';
import type { HeldReplies } from '../conversation/held-replies.ts';
import { createKeptConversations } from '../conversation/kept.ts';
import { createPendingEdits } from '../conversation/pending-edits.ts';
import { parseKey, placeOf } from '../domain/key.ts';
import type { ConversationKey, InboundMessage, Part } from '../domain/message.ts';
import { createOptOut } from '../memory/opt-out.ts';
import { removeMessages } from '../memory/removal.ts';
import { withStoredAudience } from '../memory/stored-audience.ts';
import type { ChannelSink, Drop, MessageEdit, Receipt } from '../ports/channel.ts';
import type { Conversation, NewMessage } from '../ports/store.ts';
import type { Services, TextLog } from '../services.ts';
import { pagesOf } from '../util/conversation-pages.ts';

export interface SinkOptions {
  readonly services: Services;
  readonly actors: Actors;
  readonly commands: Commands;
  readonly held: HeldReplies;
  /** Logs the text of messages, if the operator enabled it. */
  readonly logText: TextLog;
}

/** The interface of the bot for its channels: every event is durable before its promise resolves. */
export function createSink(options: SinkOptions): ChannelSink {
  const { services, actors, commands } = options;
  const { store, clock, events } = services;
  const drop = (what: Drop) => events.emit({ kind: 'message.dropped', conversation: null, ...what });
  const early = createPendingEdits();
  const receive = createReceiver(options);
  const { edited, removed, change } = createChanges(options);
  return {
    async message(heard) {
      const message = await withStoredAudience(store, heard);
      const before = early.of(message);
      if (before?.kind === 'removed') {
        drop({ ...dropOf(message), reason: 'deleted' });
        return { stored: false, willReply: false };
      }
      const receipt = await receive(message, before?.parts ?? null);
      const later = early.of(message);
      if (later?.kind === 'removed') await removed({ ...message, externalIds: [message.externalId] });
      else if (later !== null && later !== before) await edited({ ...message, parts: later.parts });
      early.release(message);
      return receipt;
    },
    async edited(edit) {
      early.hold(edit, { kind: 'edited', parts: edit.parts }, clock.now());
      if (await edited(edit)) early.release(edit);
    },
    async removed({ conversation, externalIds }) {
      for (const externalId of externalIds) early.hold({ conversation, externalId }, { kind: 'removed' }, clock.now());
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
      await change(key, ({ id }) => store.conversations.change(id, { kind: 'audience', audience, now: clock.now() }));
      actors.refreshBusy();
    },
    left: async (place) =>
      typeof place === 'string'
        ? await change(place, ({ id }) => store.conversations.change(id, { kind: 'purge' }))
        : await purgeWorkspace(options, place.workspace),
    conversations: createKeptConversations(services),
    dropped: drop,
    catchingUp: options.held.hold,
  };
}

function dropOf({ conversation, externalId }: InboundMessage): Omit<Drop, 'reason'> {
  const { platform, channel, thread } = parseKey(conversation);
  return { platform, event: 'message', channel: thread ?? channel, externalId, problem: null };
}

/** Edits and deletions of stored messages. */
function createChanges({ services, actors }: SinkOptions) {
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
    async edited({ conversation: key, externalId, parts: written }: Omit<MessageEdit, 'at'>): Promise<boolean> {
      const parts = cleanParts(written);
      let isKnown = false;
      await change(key, async ({ id }) => {
        isKnown = await store.transcript.edit(id, {
          externalId,
          parts,
          tokens: estimateParts(parts),
          now: clock.now(),
        });
        if (!isKnown) return;
        events.emit({ kind: 'message.edited', conversation: key, externalId });
        queue.kick(id);
      });
      return isKnown;
    },
    async removed({ conversation: key, externalIds }: Parameters<ChannelSink['removed']>[0]): Promise<void> {
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

/**
 * Deletes its conversations, then the memories and opt-outs that people set there by command, which may have no source
 * in them.
 */
async function purgeWorkspace({ services, actors }: SinkOptions, workspace: string): Promise<void> {
  const { store, state } = services;
  for await (const { id, key } of pagesOf(store.conversations, { order: 'key', scope: { within: workspace } })) {
    await store.conversations.change(id, { kind: 'purge' });
    actors.peek(key)?.refresh();
  }
  await store.memories.forget({ workspace });
  await createOptOut(state).purge(workspace);
}

/** Stores a message with the content of an edit that arrived before it. */
function createReceiver({ services, actors, logText }: SinkOptions) {
  const { agents, events, clock } = services;
  const guard = createBotGuard();
  return async (message: InboundMessage, edited: readonly Part[] | null): Promise<Receipt> => {
    const { conversation } = message;
    const agent = agents.agentFor(conversation);
    const decision = decide(message, agent, () => guard.allows(`${conversation} ${message.author.id}`, clock.now()));
    const result = await actors.of(conversation).receive({
      conversation,
      audience: message.audience,
      message: toNewMessage(message, edited),
      wantsReply: decision.reply,
      idleExtractMs: idleMsOf(agent),
      now: clock.now(),
    });
    if (result.kind === 'duplicate') {
      events.emit({ kind: 'message.duplicate', conversation, seq: result.seq });
      return { stored: false, willReply: false };
    }
    endExposed(actors, result);
    events.emit({ kind: 'message.accepted', conversation, seq: result.seq, wantsReply: decision.reply });
    logText(conversation, message.author.name, message.text);
    return { stored: true, willReply: decision.reply };
  };
}

/** The first message of a conversation, or of an audience, may open the place for turns that run there, or close it for others. */
function endExposed(
  actors: Actors,
  { seq, conversation }: { readonly seq: number; readonly conversation: Conversation },
) {
  if (conversation.audienceFrom === seq) actors.refreshBusy();
  else if (seq === 1) actors.refreshBusy(placeOf(conversation.key));
}

function toNewMessage(message: InboundMessage, edited: readonly Part[] | null): NewMessage {
  const text: readonly Part[] = message.text === '' ? [] : [{ kind: 'text', text: message.text }];
  const content = cleanParts(edited ?? [...text, ...message.attachments]);
  return {
    externalId: message.externalId,
    role: 'user',
    author: cleanAuthor(message.author),
    parts: content,
    replyTo: message.replyTo,
    mentions: message.mentions.map(cleanAuthor),
    tokens: estimateParts(content),
    at: message.at,
  };
}
