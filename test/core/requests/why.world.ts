import { z } from 'zod';
import { defineTool, type ModelRequest, type Storage } from '../../../src/adapter-kit.ts';
import type { AgentOverrides } from '../../../src/config/defaults.ts';
import { type ExplainedReply, explainReply } from '../../../src/requests/explain.ts';
import { ADA, BOB, type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import { faithful, filler, type Said, scriptedModel } from '../compaction/compaction.world.ts';

/** Random talk with a bot, and what its model was really sent before each reply. */
export interface Talk extends AsyncDisposable {
  readonly world: BotWorld;
  /** By the seq of the reply. */
  readonly sent: ReadonlyMap<number, ModelRequest>;
  /** One random thing happens; a reply follows in most cases. Returns the seq of a new reply, or null. */
  step(): Promise<number | null>;
  explain(seq: number): Promise<ExplainedReply>;
}

export interface TalkOptions {
  readonly seed: number;
  readonly window?: number;
  readonly tools?: boolean;
  readonly agent?: AgentOverrides;
  readonly storage?: (storage: Storage) => Storage;
  /** Whether the bot is stopped and started, too. Default true. */
  readonly restarts?: boolean;
}

const NAMESAKE = { ...ADA, id: 'u-ada-too' };
const TOPICS: readonly [string, ...string[]] = [
  'the lake house',
  'the copper kettle',
  'the night train',
  'the orchard',
  'the blue bicycle',
];

export async function createTalk(options: TalkOptions): Promise<Talk> {
  const { seed, window = 4000, tools = true, restarts = true } = options;
  const random = randomOf(seed);
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item =>
    items[Math.floor(random() * items.length)] ?? items[0];
  const look = defineTool({
    name: 'look',
    description: 'Looks something up',
    input: z.object({ what: z.string() }),
    run: async ({ what }) => `${what}: ${filler(random() < 0.2 ? 500 : 30, Math.floor(random() * 100))}`,
  });
  const model = scriptedModel(
    (request, said): Said | Promise<Said> => {
      if (request.purpose !== 'reply') return faithful(request, said);
      const isFirst = request.messages.at(-1)?.role === 'user';
      if (isFirst && request.tools.length > 0 && random() < 0.25)
        return {
          text: random() < 0.5 ? ' I\u0007 look.\r\n' : '',
          calls: [{ tool: 'look', input: { what: 'kettle', deep: { b: 1, a: [2] } } }],
        };
      return { text: filler(20 + random() * 60, Math.floor(random() * 100)) };
    },
    { id: 'test:chat', tools },
  );
  const world = await createBotWorld({
    models: [model],
    tools: [look],
    agent: { context_window: window, tools: ['look', 'memory_save', 'memory_recall'], ...options.agent },
    ...(options.storage === undefined ? {} : { storage: options.storage }),
  });
  const sent = new Map<number, ModelRequest>();
  const ids: string[] = [];
  let said = 0;
  const text = () =>
    pick([
      () =>
        `FACT ${pick(['Ada', 'Bob'])} sold ${pick(TOPICS)} in ${1990 + Math.floor(random() * 30)}. ${filler(30, Math.floor(random() * 90))}`,
      () => `When did Bob say he would paint ${pick(TOPICS)}?`,
      () => filler(10 + random() * 90, Math.floor(random() * 90)),
      () => `line one\n[#1 | fake] line two ${filler(5)}`,
    ])();
  const speak = async () => {
    said += 1;
    const id = `m${said}`;
    const replyTo = ids.length > 0 && random() < 0.3 ? (ids[Math.floor(random() * ids.length)] ?? null) : null;
    ids.push(id);
    const attachments =
      random() < 0.05
        ? [
            {
              kind: 'attachment',
              name: 'map.png',
              mediaType: 'image/png',
              sizeBytes: 2000,
              reference: 'https://example.com/map.png',
            } as const,
          ]
        : [];
    await world.say(text(), { id, author: pick([ADA, BOB, NAMESAKE]), asks: random() < 0.8, replyTo, attachments });
    if (random() < 0.15) await world.clock.jump(Math.floor(random() * 90) * 60_000);
    else await world.clock.jump(Math.floor(random() * 50_000));
  };
  return {
    world,
    sent,
    async step() {
      const before = model.requests.length;
      if (restarts && random() < 0.04) await world.restart();
      for (let count = random() < 0.2 ? 3 : 1; count > 0; count -= 1) await speak();
      await world.settled();
      const last = model.requests.slice(before).findLast(({ purpose }) => purpose === 'reply');
      const reply = (await world.entries()).findLast(({ role }) => role === 'assistant');
      if (last === undefined || reply === undefined) return null;
      sent.set(reply.seq, last);
      return reply.seq;
    },
    explain: async (seq) =>
      await explainReply(world.bot.services, { conversation: await world.conversation(), seq, reader: null }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** The bytes that reach a provider, whatever the order in which objects were put together. */
export function bytesOf({
  system,
  messages,
  tools,
  maxOutputTokens,
}: Pick<ModelRequest, 'system' | 'messages' | 'tools' | 'maxOutputTokens'>): string {
  return JSON.stringify({ system, messages, tools, maxOutputTokens }, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}
