import { z } from 'zod';
import { createLocalQueue } from '../adapters/queues/local/index.ts';
import { createHttpReranker } from '../adapters/rerankers/http/index.ts';
import type { ContextPreview } from '../src/context/preview.ts';
import type { Conversation } from '../src/ports/store.ts';
import { silentLog } from '../src/util/log/silent-log.ts';
import { providerOf, replyModel } from './models.ts';
import { type Recorded, readRecorded, storeRecorded } from './recorded.ts';
import { mean } from './samples.ts';
import { largeReader } from './settling.ts';
import { type World, withWorld } from './world.ts';

/**
 * What a model would see if a recorded question were the newest message, without a tool call. `node bench/asked.ts`
 * prints every category and conversation; `node bench/asked.ts DIRECTORY` uses other data of the same shape. With
 * `RERANK_URL`, `RERANK_MODEL`, `RERANK_KEY` and `RERANK_WITH` in the environment, a reranker takes part.
 */

/** The result for one message. */
export interface Asked {
  readonly conversation: string;
  readonly category: string;
  /** Share of the messages with the answer that appear in the request, word for word. */
  readonly evidenceInView: number;
  readonly hasPassages: boolean;
  readonly passageTokens: number;
}

export interface AskedOptions {
  readonly folder: string;
  readonly windowTokens: number;
  /** Asks what people said in the second half instead of the questions, after the first half alone. */
  readonly ordinary?: boolean;
  readonly data?: string | undefined;
}

/** Every message as the newest one of its conversation, whose view has come to rest. Null without the data. */
export async function askRecorded(options: AskedOptions): Promise<readonly Asked[] | null> {
  const recorded = readRecorded(options.folder, options.data);
  if (recorded === null) return null;
  const queue = createLocalQueue({ log: silentLog });
  const { reranker, recall } = rerankerIn(process.env);
  const { windowTokens } = options;
  const agent = { context_window: windowTokens, max_output_tokens: Math.min(4096, windowTokens / 2), recall };
  const models = providerOf(replyModel(), largeReader());
  return await withWorld({ models, queue, agent, ...reranker }, async (world) => {
    const asked: Asked[] = [];
    for (const one of recorded) {
      const talk = options.ordinary === true ? halfOf(one) : one;
      const stored = await storeRecorded(world.storage, { ...talk, workspace: 'asked' });
      queue.kick(stored.id);
      await queue.idle();
      const conversation = await world.storage.store.conversations.find(stored.key);
      if (conversation !== null) asked.push(...(await askAll(world, conversation, talk)));
    }
    return asked;
  });
}

/** `RERANK_URL` is the address before `/rerank` or `/embeddings`. */
function rerankerIn({ RERANK_URL, RERANK_MODEL = 'model', RERANK_WITH = 'rerank', RERANK_KEY }: NodeJS.ProcessEnv) {
  if (RERANK_URL === undefined) return { reranker: {}, recall: {} };
  const apiKey = RERANK_KEY === undefined ? {} : { apiKey: RERANK_KEY };
  const reranker = createHttpReranker({ providers: { bench: { baseUrl: RERANK_URL, ...apiKey } } });
  const rerank_with = z.enum(['rerank', 'embeddings']).parse(RERANK_WITH);
  return {
    reranker: { reranker },
    recall: { rerank_model: `bench:${RERANK_MODEL}`, rerank_with, rerank_timeout_ms: 10_000 },
  };
}

/** What people said next, most of which asks nothing of the past. */
function halfOf({ name, messages }: Recorded): Recorded {
  const middle = Math.floor(messages.length / 2);
  const next = messages.slice(middle).filter(({ role }) => role !== 'assistant');
  const questions = next.map(({ text }) => ({ question: text, evidence: [], category: 'ordinary' }));
  return { name, messages: messages.slice(0, middle), questions };
}

async function askAll(
  { bot }: World,
  conversation: Conversation,
  { name, questions }: Recorded,
): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const { question, evidence, category } of questions) {
    if (evidence.length === 0 && category !== 'ordinary') continue;
    const preview = await bot.commandServices.preview(conversation, question);
    const shown = new Set(preview.messages);
    const evidenceInView = evidence.filter((id) => shown.has(id)).length / Math.max(1, evidence.length);
    asked.push({ conversation: name, category, evidenceInView, ...passagesIn(preview) });
  }
  return asked;
}

function passagesIn({ parts }: ContextPreview): Pick<Asked, 'passageTokens' | 'hasPassages'> {
  const found = parts.find(({ key, included }) => key === 'passages' && included);
  return { passageTokens: found?.tokens ?? 0, hasPassages: found !== undefined };
}

function lineOf(name: string, asked: readonly Asked[]): string {
  const inView = mean(asked.map(({ evidenceInView }) => evidenceInView)).toFixed(3);
  const quoted = mean(asked.map(({ hasPassages }) => Number(hasPassages))).toFixed(3);
  const tokens = mean(asked.map(({ passageTokens }) => passageTokens)).toFixed(0);
  return `${name.padEnd(34)} evidence in view ${inView}  with passages ${quoted}  ${tokens} tokens  (${asked.length})`;
}

async function print(options: AskedOptions): Promise<void> {
  const asked = await askRecorded(options);
  if (asked === null) return;
  const { folder, windowTokens, ordinary = false } = options;
  console.log(`\n${lineOf(`${folder}, ${windowTokens}${ordinary ? ', ordinary' : ''}`, asked)}`);
  for (const by of ['category', 'conversation'] as const)
    for (const [name, group] of Map.groupBy(asked, (one) => one[by])) console.log(`  ${lineOf(name, group)}`);
}

if (import.meta.main) {
  const data = process.argv[2];
  for (const folder of ['locomo', 'beam-100k']) {
    for (const windowTokens of [8000, 32_000]) await print({ folder, windowTokens, data });
    await print({ folder, windowTokens: 8000, ordinary: true, data });
  }
}
