import { createOfflineModel } from '../adapters/models/offline/index.ts';
import { createLocalQueue } from '../adapters/queues/local/index.ts';
import { transcriptLine, WHOLE } from '../src/compaction/job/transcript-line.ts';
import { estimateRequest } from '../src/context/measure/tokens.ts';
import type { ChatModel, ModelRequest } from '../src/ports/model.ts';
import type { Queue } from '../src/ports/queue.ts';
import { silentLog } from '../src/util/log/silent-log.ts';
import type { Exchange } from './data.ts';
import { REPLY_MODEL, SUMMARY_MODEL, scriptedModel } from './models.ts';
import { conversationKey, type World, withWorld } from './world.ts';

/** What it took to keep one conversation within its window. */
export interface Settled {
  /** Estimated tokens of all messages and answers, each read once. */
  readonly transcriptTokens: number;
  /** Estimated tokens of all requests to the summariser. */
  readonly readTokens: number;
  readonly emergencies: number;
  readonly highestLevel: number;
  /** Highest share of the window that the view took when nothing was due. */
  readonly highestRatio: number;
}

/** A summariser that reads 32,000 tokens and keeps words of each message, as many as the prompt asks for. */
export function largeReader(): ChatModel {
  const model = scriptedModel(SUMMARY_MODEL, { delayMs: 0, text: keyWordsOf });
  return { ...model, traits: { ...model.traits, windowTokens: 32_000 } };
}

export function offlineReader(): ChatModel {
  return { ...createOfflineModel(), id: SUMMARY_MODEL };
}

/** With the space after it. */
const CHARACTERS_PER_WORD = 6;

function keyWordsOf({ messages, system }: ModelRequest): string {
  const texts = messages.flatMap((message) => (message.role === 'user' ? message.content : []));
  const lines = texts.flatMap((content) => (content.kind === 'text' ? content.text.split('\n') : []));
  const start = lines.findIndex((line) => /^<(?:transcript|summaries)-/u.test(line));
  const said = lines.slice(start + 1).filter((line) => line.startsWith('[#'));
  const words = said.map((line) => line.slice(line.indexOf(']') + 2).match(/\p{L}{4,}/gu) ?? []);
  const wanted = Number(/about (\d+) words/u.exec(system.map(({ text }) => text).join('\n'))?.[1] ?? 100);
  const share = wanted / Math.max(1, words.flat().length);
  const kept = words.flatMap((of) => of.slice(0, Math.ceil(of.length * share)));
  return `They spoke of ${kept.join(' ').slice(0, wanted * CHARACTERS_PER_WORD)}.`;
}

export interface SettlingOptions {
  readonly windowTokens: number;
  readonly summariser: ChatModel;
}

/** Plays a recorded conversation, each message after the work that the previous one caused. */
export async function settle(talk: readonly Exchange[], options: SettlingOptions): Promise<Settled> {
  const { windowTokens, summariser } = options;
  let answer = '';
  let readTokens = 0;
  const counted: ChatModel = {
    ...summariser,
    stream(request, how) {
      readTokens += estimateRequest(request);
      return summariser.stream(request, how);
    },
  };
  const plain = scriptedModel(REPLY_MODEL, { delayMs: 0, text: () => answer || 'I see.' });
  const reply = { ...plain, traits: { ...plain.traits, windowTokens } };
  const models = {
    open: async (id: string) => (id === REPLY_MODEL ? reply : counted),
    choose: async () => ({ modelId: REPLY_MODEL, reason: 'the bench' }),
  };
  const queue = createLocalQueue({ log: silentLog });
  return await withWorld({ models, queue }, async (world) => {
    const seen = watch(world);
    let highestRatio = 0;
    for (const [index, exchange] of talk.entries()) {
      answer = exchange.answer;
      await world.ask(KEY, { id: `m${index}`, text: exchange.said });
      highestRatio = Math.max(highestRatio, await ratioAtRest(world, queue));
    }
    return { transcriptTokens: await transcriptTokensOf(world), readTokens, ...seen, highestRatio };
  });
}

const KEY = conversationKey('talk');

function watch({ bot }: World): { emergencies: number; highestLevel: number } {
  const seen = { emergencies: 0, highestLevel: 0 };
  bot.events.on((event) => {
    if (event.kind === 'gap.opened') seen.emergencies += 1;
    if (event.kind === 'stack.condensed') seen.highestLevel = Math.max(seen.highestLevel, event.level);
  });
  return seen;
}

async function ratioAtRest({ bot, storage }: World, queue: Queue): Promise<number> {
  await bot.settled();
  // The check for due maintenance runs one event loop turn after a reply is stored.
  await new Promise((resolve) => setImmediate(resolve));
  await queue.idle();
  const conversation = await storage.store.conversations.find(KEY);
  if (conversation === null) throw new Error('The conversation is missing');
  const { used, volatile, window } = (await bot.commandServices.inspect(conversation)).measurement;
  return (used - volatile) / window;
}

async function transcriptTokensOf({ storage }: World): Promise<number> {
  const conversation = await storage.store.conversations.find(KEY);
  if (conversation === null) return 0;
  const { id, nextSeq } = conversation;
  const entries = await storage.store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq - 1, limit: nextSeq });
  const line = { seqOf: () => null, longest: WHOLE };
  return entries.reduce((sum, entry) => sum + (transcriptLine(entry, line)?.tokens ?? 0), 0);
}
