import { rm } from 'node:fs/promises';
import { createOfflineModel } from '../../../adapters/models/offline/index.ts';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { type Bot, createBot } from '../../../src/bot/bot.ts';
import type { BotOptions } from '../../../src/bot/options.ts';
import { readCommandLine } from '../../../src/commands/lines/parse.ts';
import { makeKey } from '../../../src/domain/key.ts';
import type { Audience, Author, ConversationKey } from '../../../src/domain/message.ts';
import type { CommandInvocation } from '../../../src/ports/channel.ts';
import type { ModelProvider } from '../../../src/ports/model.ts';
import type { CommandReply } from '../../../src/ports/reply.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

/** A whole bot on a fresh store, talked to without a channel. */
export interface World extends AsyncDisposable {
  readonly bot: Bot;
  readonly place: ConversationKey;
  /** Says something and waits until everything that follows from it is done. */
  say(text: string, by?: Author): Promise<void>;
  /** Types a command. */
  type(line: string, as?: Partial<CommandInvocation>): Promise<CommandReply>;
}

export const ADA: Author = { id: 'u-ada', name: 'Ada', kind: 'person' };
export const BO: Author = { id: 'u-bo', name: 'Bo', kind: 'person' };

export interface WorldOptions {
  readonly audience?: Audience;
  readonly parts?: Partial<BotOptions>;
}

export async function openWorld({ audience = 'dm', parts = {} }: WorldOptions = {}): Promise<World> {
  const directory = await createStoreFolder('commands');
  const log = silentLog;
  const offline = createOfflineModel();
  const models: ModelProvider = {
    open: async () => offline,
    choose: async () => ({ modelId: offline.id, reason: 'it is the only one' }),
  };
  const storage = await createSqliteStorage({ directory });
  const queue = createLocalQueue({ log });
  const bot = createBot({ storage, queue, models, dataLocation: directory, ...parts });
  await bot.start();
  const place = makeKey({ platform: 'test', workspace: 'w', channel: 'c' });
  let count = 0;
  return {
    bot,
    place,
    async say(text, author = ADA) {
      count += 1;
      const message = { conversation: place, externalId: `m${count}`, author, text, audience, at: Date.now() };
      await bot.sink.message({ ...message, attachments: [], replyTo: null, mentions: [], addressesBot: true });
      await bot.settled();
      await queue.idle();
    },
    async type(line, as = {}) {
      const read = readCommandLine(line, { specs: bot.commands.specs });
      if (read.kind === 'refused') return read.reply;
      return await bot.commands.run({
        conversation: place,
        audience,
        author: ADA,
        rights: 'member',
        ...read.command,
        ...as,
      });
    },
    async [Symbol.asyncDispose]() {
      await bot.stop({ deadlineMs: 5000 });
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The value of a field by its name. */
export function field(reply: CommandReply, name: string): string {
  return reply.fields.find((one) => one.name === name)?.value ?? '';
}

export function cells(reply: CommandReply): readonly (readonly string[])[] {
  return reply.rows?.cells ?? [];
}
