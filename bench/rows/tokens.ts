import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { createStackedEngine } from '../../src/context/engines/stacked.ts';
import type { ContextEngine, Measurement } from '../../src/ports/engine.ts';
import type { ModelMessage, ModelRequest } from '../../src/ports/model.ts';
import type { Services } from '../../src/services.ts';
import { type Exchange, readTalks } from '../data.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { providerOf, REPLY_MODEL, scriptedModel, summaryModel } from '../models.ts';
import { percentile } from '../samples.ts';
import { conversationKey, withWorld } from '../world.ts';

const SETS = [
  { folder: 'locomo', title: 'talk of two people' },
  { folder: 'beam-100k', title: 'long answers and code' },
] as const;
/** Number of replies that teach the ratio before an estimate counts. */
const LEARNING = 3;

/** Relative errors of one request's estimate. */
interface Sample {
  readonly ours: number;
  readonly plain: number;
}

/** How far the gate's estimate of a request differs from a tokenizer's count of the same request. */
export async function tokens({ quick }: RowOptions): Promise<RowResult> {
  const figures: Figure[] = [];
  let requests = 0;
  for (const { folder, title } of SETS) {
    const talks = readTalks(folder);
    if (talks === null) return { figures: [], notes: ['Skipped: the evaluation data is not at ../shared/data.'] };
    const samples = await measureTalks(quick ? talks.slice(0, 2) : talks);
    requests += samples.length;
    figures.push(...figuresOf(title, samples));
  }
  const note = `${requests} requests of recorded conversations, from the fourth reply on. The provider's count is that of the o200k tokenizer for the whole request, including its tools and four tokens around each message. The ratio is learned from these counts alone, as in operation.`;
  return { figures, notes: [note] };
}

function figuresOf(title: string, samples: readonly Sample[]): readonly Figure[] {
  return [50, 95].map((percent) => ({
    figure: `error of the token estimate, ${title}, p${percent}`,
    unit: 'share',
    baseline: {
      of: 'chars/4',
      value: percentile(
        samples.map((sample) => sample.plain),
        percent,
      ),
    },
    ours: percentile(
      samples.map((sample) => sample.ours),
      percent,
    ),
    bar: percent === 95 ? { of: 'ours', is: 'below', value: 0.02 } : null,
  }));
}

async function measureTalks(talks: readonly (readonly Exchange[])[]): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const state = { answer: '', samples: [] as Sample[], measurement: null as Measurement | null };
  const engine = measuringEngine((measurement) => {
    state.measurement = measurement;
  });
  const model = scriptedModel(REPLY_MODEL, {
    delayMs: 0,
    text: () => state.answer || 'I see.',
    inputTokens(request) {
      const counted = countRequest(request);
      const { used = 0, reserve = 0 } = state.measurement ?? {};
      const plain = charactersOf(request) / 4;
      state.samples.push({ ours: errorOf(used - reserve, counted), plain: errorOf(plain, counted) });
      return counted;
    },
  });
  const options = {
    models: providerOf(model, summaryModel(0)),
    agent: { engine: 'measuring', context_window: 1_000_000 },
    engines: { measuring: engine },
  };
  await withWorld(options, async (world) => {
    engine.serve(world.bot.services);
    for (const [name, talk] of talks.entries()) {
      state.samples = [];
      for (const [index, { said, answer }] of talk.entries()) {
        state.answer = answer;
        await world.ask(conversationKey(name), { id: `m${index}`, text: said });
      }
      samples.push(...state.samples.slice(LEARNING));
    }
  });
  return samples;
}

function errorOf(estimate: number, counted: number): number {
  return Math.abs(estimate - counted) / counted;
}

/** The stacked engine with access to its meter. */
function measuringEngine(onMeasured: (measurement: Measurement) => void) {
  let inner: ContextEngine | null = null;
  const get = (): ContextEngine => {
    if (inner === null) throw new Error('The engine serves nobody yet');
    return inner;
  };
  const engine: ContextEngine = {
    info: { id: 'measuring', name: 'Measuring', version: '1', ownsCompaction: true },
    bootstrap: (snapshot) => get().bootstrap(snapshot),
    ingest: (ingest) => get().ingest(ingest),
    ingestBatch: (batch) => get().ingestBatch(batch),
    prepareChild: (start) => get().prepareChild(start),
    endChild: (end) => get().endChild(end),
    async assemble(request) {
      const assembly = await get().assemble(request);
      onMeasured(assembly.measurement);
      return assembly;
    },
    afterTurn: () => ({ tier: 'none', due: false }),
    compact: (request) => get().compact(request),
    maintain: (work) => get().maintain(work),
    dispose: async () => undefined,
  };
  const maintenance = { run: async () => ({ changed: false, reason: 'nothing is maintained here' }) };
  return {
    ...engine,
    serve(services: Services) {
      inner = createStackedEngine({ services, maintenance });
    },
  };
}

const MESSAGE_TOKENS = 4;
const known = new Map<string, number>();

/** The same texts recur in every request. */
function countText(text: string): number {
  const count = known.get(text) ?? countTokens(text);
  known.set(text, count);
  return count;
}

function textsOf(message: ModelMessage): readonly string[] {
  switch (message.role) {
    case 'user':
      return message.content.map((content) => (content.kind === 'text' ? content.text : ''));
    case 'assistant':
      return [message.text, ...message.calls.map((call) => JSON.stringify(call))];
    case 'tool':
      return message.results.map((result) => result.text);
    default:
      return message satisfies never;
  }
}

function piecesOf({ system, messages, tools }: ModelRequest): readonly (readonly string[])[] {
  return [
    ...system.map((block) => [block.text]),
    ...messages.map(textsOf),
    ...tools.map((tool) => [JSON.stringify(tool)]),
  ];
}

function countRequest(request: ModelRequest): number {
  return piecesOf(request).reduce(
    (sum, texts) => texts.reduce((inner, text) => inner + countText(text), sum + MESSAGE_TOKENS),
    0,
  );
}

function charactersOf(request: ModelRequest): number {
  return piecesOf(request)
    .flat()
    .reduce((sum, text) => sum + text.length, 0);
}
