import { setTimeout as delay } from 'node:timers/promises';
import type { ConversationKey } from '../../src/domain/message.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { providerOf, replyModel, summaryModel } from '../models.ts';
import { appendPast, usedShare } from '../past.ts';
import { percentile } from '../samples.ts';
import { createWords } from '../words.ts';
import { conversationKey, type World, withWorld } from '../world.ts';

const MODEL_MS = 25;
const THINKING_MS = 20;
const WINDOW_TOKENS = 128_000;
/** Just below the background threshold, so that the first turns of a phase cross it. */
const FILL = 0.798;
/** The twin is as full, but has a distant threshold: the same view, and nothing pending. */
const IDLE_COMPACTION = { background_threshold: 0.93, aggressive_threshold: 0.94 };

/**
 * How long a person waits for a reply while a summary of the same conversation is being written, compared with an
 * equally long twin conversation that needs none. Both use the reply model at 25 ms, in one process, phase by phase.
 */
export async function latency({ quick }: RowOptions): Promise<RowResult> {
  const summaryMs = quick ? 5000 : 20_000;
  // Enough turns that two of them do not decide the p99.
  const rounds = quick ? 1 : 4;
  const pending: number[] = [];
  const idle: number[] = [];
  const options = {
    models: providerOf(replyModel(MODEL_MS), summaryModel(summaryMs)),
    agent: {
      context_window: WINDOW_TOKENS,
      routes: [{ match: 'bench:bench:idle-*', compaction: IDLE_COMPACTION }],
    },
  };
  await withWorld(options, async (world) => {
    await warmUp(world);
    for (let round = 1; round <= rounds; round += 1) {
      const during = await phaseWithSummary(world, round);
      pending.push(...during);
      idle.push(...(await phaseWithout(world, { round, turns: during.length })));
    }
  });
  return { figures: figuresOf(pending, idle), notes: [noteOf({ pending, summaryMs, rounds })] };
}

function figuresOf(pending: readonly number[], idle: readonly number[]): readonly Figure[] {
  const shown = ([50, 95, 99, 100] as const).map((percent): Figure => {
    return {
      figure: `turn while a summary is pending, ${percent === 100 ? 'max' : `p${percent}`}`,
      unit: 'ms',
      baseline: { of: 'none pending', value: percentile(idle, percent) },
      ours: percentile(pending, percent),
      bar: percent === 99 ? { of: 'ratio', is: 'at most', value: 1.05 } : null,
    };
  });
  const added = percentile(pending, 99) - percentile(idle, 99);
  const bar = { of: 'ours', is: 'below', value: 5 } as const;
  return [
    ...shown,
    { figure: 'latency that a pending summary adds, p99', unit: 'ms', baseline: null, ours: added, bar },
  ];
}

function noteOf(of: { readonly pending: readonly number[]; readonly summaryMs: number; readonly rounds: number }) {
  return `${of.pending.length} turns while a summary of ${of.summaryMs / 1000} s is pending (${of.rounds} in all), and as many in a twin conversation without one. About 100,000 tokens are in view, and the reply model answers in ${MODEL_MS} ms.`;
}

/** The first turns of a process compile its code, which would affect both phases. */
async function warmUp(world: World): Promise<void> {
  const conversation = conversationKey('idle-warm');
  await fill(world, conversation);
  for (let turn = 0; turn < 30; turn += 1) await world.ask(conversation, message(turn));
}

/** Turn after turn from the start of the job to its end. */
async function phaseWithSummary(world: World, round: number): Promise<readonly number[]> {
  const conversation = conversationKey(`pending-${round}`);
  await fill(world, conversation);
  const times: number[] = [];
  const job = { runs: false, ended: false };
  const leave = world.bot.events.on((event) => {
    if (event.conversation !== conversation) return;
    if (event.kind === 'maintenance.started') job.runs = true;
    if (event.kind === 'maintenance.ended') job.ended = true;
  });
  for (let turn = 0; !job.ended; turn += 1) {
    const time = await world.ask(conversation, message(turn));
    if (job.runs) times.push(time);
    await delay(THINKING_MS);
  }
  leave();
  return times;
}

async function phaseWithout(world: World, of: { readonly round: number; readonly turns: number }) {
  const conversation = conversationKey(`idle-${of.round}`);
  await fill(world, conversation);
  const times: number[] = [];
  for (let turn = 0; turn < of.turns; turn += 1) {
    times.push(await world.ask(conversation, message(turn)));
    await delay(THINKING_MS);
  }
  return times;
}

function message(turn: number) {
  return { id: `turn-${turn}`, text: `And what about point ${turn}?` };
}

const FILL_STEP = 100;

/** A past of the wanted size, stored as if by an earlier process. */
async function fill(world: World, conversation: ConversationKey): Promise<void> {
  const words = createWords(1);
  for (let seq = 1; ; seq += FILL_STEP) {
    await appendPast(world, { conversation, from: seq, count: FILL_STEP, text: () => words.text(60) });
    if ((await usedShare(world, conversation)) >= FILL * 0.97) break;
  }
  // Small steps at the end, so that all twins are equally full.
  for (let seq = 1_000_000; (await usedShare(world, conversation)) < FILL; seq += 1) {
    await appendPast(world, { conversation, from: seq, count: 1, text: () => words.text(60) });
  }
}
