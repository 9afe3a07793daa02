import type { Commands } from './commands/commands.ts';
import { estimateParts } from './context/tokens.ts';
import type { Actors } from './conversation/actors.ts';
import { createBotGuard } from './conversation/bot-guard.ts';
import { decide } from './conversation/decide.ts';
import { parseKey, workspaceOf } from './conversation/key.ts';
import { createLearning } from './memory/learning.ts';
import type { ConversationKey, InboundMessage, Part } from './message.ts';
import type { Services, TextLog } from './parts.ts';
import type { ChannelSink, Cursor } from './ports/channel.ts';
import type { Conversation, NewMessage } from './ports/store.ts';

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
  const { store, events, clock } = services;
  const receive = createReceiver(parts);
  /** Runs when the conversation is known, and lets its actor read the change. */
  const change = async (key: ConversationKey, work: (conversation: Conversation) => Promise<void>): Promise<void> => {
    const conversation = await store.conversations.find(key);
    if (conversation === null) return;
    await work(conversation);
    actors.peek(key)?.refresh();
  };
  return {
    message: receive,
    edited: ({ conversation: key, externalId, parts: content }) =>
      change(key, async ({ id }) => {
        const edit = { externalId, parts: content, tokens: estimateParts(content), now: clock.now() };
        if (!(await store.transcript.edit(id, edit))) return;
        events.emit({ kind: 'message.edited', conversation: key, externalId });
        services.queue.kick(id);
      }),
    removed: ({ conversation: key, externalIds }) =>
      change(key, async ({ id }) => {
        const seqs = await store.transcript.redact(id, { externalIds, now: clock.now() });
        if (seqs.length === 0) return;
        events.emit({ kind: 'message.removed', conversation: key, seqs });
        services.queue.kick(id);
      }),
    command: async (invocation) => {
      const reply = await commands.run(invocation);
      actors.peek(invocation.conversation)?.refresh();
      return reply;
    },
    suggest: (invocation, option) => commands.suggest(invocation, option),
    audienceChanged: (key, audience) =>
      change(key, ({ id }) => store.conversations.change(id, { kind: 'audience', audience })),
    left: (key) => change(key, ({ id }) => store.conversations.change(id, { kind: 'purge' })),
    leftWorkspace: (workspace) => purgeWorkspace(parts, workspace),
    cursors: (platform) => newestMessages(services, platform),
  };
}

/** Its conversations, then what people asked to remember or not to remember there, which may rest on none of them. */
async function purgeWorkspace({ services, actors }: SinkParts, workspace: string): Promise<void> {
  const { store, state } = services;
  for (const { id, key } of await conversationsIn(services, workspace)) {
    await store.conversations.change(id, { kind: 'purge' });
    actors.peek(key)?.refresh();
  }
  await store.memories.purge(workspace);
  await createLearning(state).purge(workspace);
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

function createReceiver({ services, actors, logText }: SinkParts): ChannelSink['message'] {
  const { agents, events, clock } = services;
  const guard = createBotGuard();
  return async (message) => {
    const { conversation } = message;
    const agent = agents.agentFor(conversation);
    const decision = decide(message, agent, () => guard.allows(`${conversation} ${message.author.id}`, clock.now()));
    const result = await actors.of(conversation).receive({
      conversation,
      audience: message.audience,
      message: toNewMessage(message),
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

function toNewMessage(message: InboundMessage): NewMessage {
  const text: readonly Part[] = message.text === '' ? [] : [{ kind: 'text', text: message.text.toWellFormed() }];
  const content = [...text, ...message.attachments];
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

async function newestMessages({ store }: Services, platform: string): Promise<readonly Cursor[]> {
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
      if (newest?.externalId)
        cursors.push({ conversation: conversation.key, externalId: newest.externalId, at: newest.at });
    }
    if (page.length < PAGE) return cursors;
  }
}
