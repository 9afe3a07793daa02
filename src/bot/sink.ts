import type { Commands } from '../commands/commands.ts';
import { estimateParts } from '../context/tokens.ts';
import type { Actors } from '../conversation/actors.ts';
import { createBotGuard } from '../conversation/bot-guard.ts';
import { decide } from '../conversation/decide.ts';
import { createPendingEdits } from '../conversation/pending-edits.ts';
import { parseKey, workspaceOf } from '../domain/key.ts';
import type { ConversationKey, InboundMessage, Part } from '../domain/message.ts';
import { createOptOut } from '../memory/opt-out.ts';
import type { ChannelSink, Cursor, Drop, KeptMessage, MessageEdit, Receipt } from '../ports/channel.ts';
import type { Conversation, NewMessage } from '../ports/store.ts';
import type { Services, TextLog } from '../services.ts';

export interface SinkParts {
  readonly services: Services;
  readonly actors: Actors;
  readonly commands: Commands;
  /** Writes what is said to the log, if the operator asked for that. */
  readonly logText: TextLog;
}

/** The bot as its channels see it: every event becomes durable before its promise resolves. */
export function createSink(parts: SinkParts): ChannelSink {
  const { services, actors, commands } = parts;
  const { store, clock, events } = services;
  const drop = (what: Drop) => events.emit({ kind: 'message.dropped', conversation: null, ...what });
  const early = createPendingEdits();
  const receive = createReceiver(parts);
  const { edited, removed, change } = createChanges(parts);
  return {
    async message(message) {
      const before = early.of(message);
      if (before?.kind === 'removed') {
        drop({ ...dropOf(message), reason: 'deleted' });
        return { stored: false, willReply: false };
      }
      const receipt = await receive(message, before?.parts ?? null);
      const meanwhile = early.of(message);
      if (meanwhile?.kind === 'removed') await removed({ ...message, externalIds: [message.externalId] });
      else if (meanwhile !== null && meanwhile !== before) await edited({ ...message, parts: meanwhile.parts });
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
    command: async (invocation) => {
      const reply = await commands.run(invocation);
      actors.peek(invocation.conversation)?.refresh();
      return reply;
    },
    suggest: (invocation, option) => commands.suggest(invocation, option),
    audienceChanged: (key, audience) =>
      change(key, ({ id }) => store.conversations.change(id, { kind: 'audience', audience })),
    left: async (place) =>
      typeof place === 'string'
        ? await change(place, ({ id }) => store.conversations.change(id, { kind: 'purge' }))
        : await purgeWorkspace(parts, place.workspace),
    cursors: (platform) => newestMessages(services, platform),
    dropped: drop,
  };
}

function dropOf({ conversation, externalId }: InboundMessage): Omit<Drop, 'reason'> {
  const { platform, channel, thread } = parseKey(conversation);
  return { platform, event: 'message', channel: thread ?? channel, externalId, problem: null };
}

/** Edits and deletions of what is stored. */
function createChanges({ services, actors }: SinkParts) {
  const { store, events, clock, queue } = services;
  /** Runs when the conversation is known, and lets its actor read the change. */
  const change = async (key: ConversationKey, work: (conversation: Conversation) => Promise<void>): Promise<void> => {
    const conversation = await store.conversations.find(key);
    if (conversation === null) return;
    await work(conversation);
    actors.peek(key)?.refresh();
  };
  return {
    change,
    /** Whether the message was there. */
    async edited({ conversation: key, externalId, parts }: Omit<MessageEdit, 'at'>): Promise<boolean> {
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
      await change(key, async ({ id }) => {
        const seqs = await store.transcript.redact(id, { externalIds, now: clock.now() });
        if (seqs.length === 0) return;
        events.emit({ kind: 'message.removed', conversation: key, seqs });
        queue.kick(id);
      });
    },
  };
}

/** Its conversations, then what people asked to remember or not to remember there, which may rest on none of them. */
async function purgeWorkspace({ services, actors }: SinkParts, workspace: string): Promise<void> {
  const { store, state } = services;
  for (const { id, key } of await conversationsIn(services, workspace)) {
    await store.conversations.change(id, { kind: 'purge' });
    actors.peek(key)?.refresh();
  }
  await store.memories.forget({ workspace });
  await createOptOut(state).purge(workspace);
}

/** Collected before the first is deleted, which would shift the pages. */
async function conversationsIn({ store }: Services, workspace: string): Promise<readonly Conversation[]> {
  const found: Conversation[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.conversations.list({ limit: PAGE, offset });
    found.push(...page.filter(({ key }) => workspaceOf(key) === workspace));
    if (page.length < PAGE) return found;
  }
}

/** Stores a message, with the content of an edit that came before it. */
function createReceiver({ services, actors, logText }: SinkParts) {
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
      idleExtractMs: agent.compaction.idle_minutes * 60_000,
      now: clock.now(),
    });
    if (result.kind === 'duplicate') {
      events.emit({ kind: 'message.duplicate', conversation, seq: result.seq });
      return { stored: false, willReply: false };
    }
    events.emit({ kind: 'message.accepted', conversation, seq: result.seq, wantsReply: decision.reply });
    logText(conversation, message.author.name, message.text);
    return { stored: true, willReply: decision.reply };
  };
}

function toNewMessage(message: InboundMessage, edited: readonly Part[] | null): NewMessage {
  const text: readonly Part[] = message.text === '' ? [] : [{ kind: 'text', text: message.text.toWellFormed() }];
  const content = edited ?? [...text, ...message.attachments];
  return {
    externalId: message.externalId,
    role: 'user',
    author: message.author,
    parts: content,
    replyTo: message.replyTo,
    mentions: message.mentions,
    tokens: estimateParts(content),
    at: message.at,
  };
}

const PAGE = 200;
/** A cursor is looked for among the newest entries only: beyond them lies nothing that a platform would send again. */
const LOOK_BACK = 50;

async function newestMessages(services: Services, platform: string): Promise<readonly Cursor[]> {
  const { store } = services;
  const cursors: Cursor[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.conversations.list({ limit: PAGE, offset });
    const ours = page.filter(({ key }) => parseKey(key).platform === platform);
    for (const conversation of ours) {
      const range = {
        fromSeq: Math.max(1, conversation.nextSeq - LOOK_BACK),
        toSeq: conversation.nextSeq - 1,
        limit: LOOK_BACK,
      };
      const entries = await store.transcript.read(conversation.id, range);
      const newest = entries.findLast((entry) => entry.role === 'user' && entry.externalId !== null);
      if (!newest?.externalId) continue;
      const { id, key } = conversation;
      cursors.push({
        conversation: key,
        externalId: newest.externalId,
        at: newest.at,
        kept: () => keptIn(services, id),
      });
    }
    if (page.length < PAGE) return cursors;
  }
}

const MAX_KEPT = 100;

async function keptIn({ store }: Services, conversationId: number): Promise<readonly KeptMessage[]> {
  const conversation = await store.conversations.get(conversationId);
  if (conversation === null) return [];
  const toSeq = conversation.nextSeq - 1;
  const range = { fromSeq: Math.max(1, toSeq - MAX_KEPT + 1), toSeq, limit: MAX_KEPT };
  const entries = await store.transcript.read(conversationId, range);
  return entries.flatMap(({ role, externalId, at, editedAt, redactedAt }) =>
    role === 'user' && externalId !== null && redactedAt === null ? [{ externalId, at, editedAt }] : [],
  );
}
