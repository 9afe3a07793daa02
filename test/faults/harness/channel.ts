import { z } from 'zod';
import {
  type Channel,
  type ChannelAdapter,
  type ChannelSink,
  makeKey,
  type PostBody,
  parseKey,
} from '../../../src/adapter-kit.ts';
import { type Command, PLATFORM, type Report } from './wire.ts';

/** The part of the scripted platform inside the bot's process. */
export interface PlatformLine {
  tell(report: Report): void;
  /** Called with every command that the platform sends. */
  onCommand(hear: (command: Command) => void): void;
}

const PARTS = /[\s\S]{1,160}(?:\s|$)|\S+/gu;

export function scriptedAdapter(line: PlatformLine): ChannelAdapter {
  return {
    settings: z.strictObject({}),
    create: async () => createScriptedChannel(line),
    check: async () => [],
    tasks: [],
  };
}

type Answer = Extract<Command, { kind: 'posted' | 'refused' }>;

function createScriptedChannel(line: PlatformLine): Channel {
  const waiting = new Map<number, (answer: Answer) => void>();
  let calls = 0;
  let isOpen = true;
  return {
    platform: PLATFORM,
    traits: { idempotentPosts: true, ephemeral: false, commandPrefix: '/', personIds: 'workspace' },
    linkTo: async () => null,
    async start(sink) {
      line.onCommand((command) => {
        if (command.kind === 'deliver' && isOpen) receive(line, sink, command);
        if (command.kind === 'posted' || command.kind === 'refused') waiting.get(command.call)?.(command);
      });
    },
    split: chunksOf,
    async post({ conversation, nonce, body, replyTo }, { signal }) {
      calls += 1;
      const call = calls;
      const answer = await new Promise<Answer>((resolve, reject) => {
        waiting.set(call, resolve);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        line.tell({ kind: 'post', call, nonce, channel: parseKey(conversation).channel, text: body.text, replyTo });
      }).finally(() => waiting.delete(call));
      if (answer.kind === 'refused') throw new Error('The platform gave no answer.');
      return { platformMessageId: answer.id };
    },
    show: () => undefined,
    async stop() {
      isOpen = false;
    },
  };
}

/** Acknowledged only once it is durable. */
function receive(line: PlatformLine, sink: ChannelSink, command: Extract<Command, { kind: 'deliver' }>): void {
  const { delivery, channel, id, text, asks, at } = command;
  const message = {
    conversation: makeKey({ platform: PLATFORM, workspace: 'town', channel }),
    externalId: id,
    author: { id: 'u-ada', name: 'Ada', kind: 'person' } as const,
    text,
    attachments: [],
    replyTo: null,
    mentions: [],
    addressesBot: asks,
    audience: 'private' as const,
    at,
  };
  sink.message(message).then(
    () => line.tell({ kind: 'acknowledged', delivery }),
    (error: unknown) => line.tell({ kind: 'rejected', delivery, reason: String(error) }),
  );
}

/** Split at blanks, which stay with the preceding word: joined, the parts are the text, and no name is split. */
function chunksOf(text: string): readonly PostBody[] {
  return (text.match(PARTS) ?? []).map((part) => ({ kind: 'text', text: part }));
}
