import { counted } from '../../src/adapter-kit.ts';
import type { ChatModel } from '../../src/ports/model.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { failingModel, hangingModel, providerOf, replyModel, summaryModel } from '../models.ts';
import { percentile } from '../samples.ts';
import { within } from '../within.ts';
import { createWords } from '../words.ts';
import { conversationKey, withWorld } from '../world.ts';
import { killRun } from './kill.ts';
import { workerKillRun } from './kill-worker.ts';

/** A window that fills every few turns, so that a summary is due nearly always. */
const AGENT = { context_window: 6000, max_output_tokens: 500, tools: [] };

interface Outcome {
  readonly asked: number;
  /** Messages without an answering post. */
  readonly lost: number;
  readonly slowestMs: number;
}

/** Replies that never came while the summariser works, fails, hangs, or is killed with its process. */
export async function losses({ quick }: RowOptions): Promise<RowResult> {
  const size = quick ? { conversations: 5, turns: 20 } : { conversations: 20, turns: 40 };
  const working = await talk(summaryModel(0), size);
  const failing = await talk(failingModel(), size);
  const hung = await talk(hangingModel(), size);
  const killed = await killRun({ kills: quick ? 2 : 5, messages: quick ? 60 : 150 });
  const orphaned = await workerKillRun(quick ? 1 : 3);
  const beside = { of: 'working', value: working.lost };
  const slowest = { of: 'working', value: working.slowestMs };
  return {
    figures: [
      lost('replies lost, summariser failing', failing.lost, beside),
      lost('replies lost, summariser hung', hung.lost, beside),
      lost('replies lost, process killed with -9 while it summarised', killed.lost, null),
      lost('replies lost, worker killed with -9 while it summarised', orphaned.lost, null),
      {
        figure: 'slowest reply, summariser failing',
        unit: 'ms',
        baseline: slowest,
        ours: failing.slowestMs,
        bar: null,
      },
      { figure: 'slowest reply, summariser hung', unit: 'ms', baseline: slowest, ours: hung.slowestMs, bar: null },
    ],
    notes: [
      `${working.asked} messages for each summariser, in ${size.conversations} conversations at once. Each fills its window of ${AGENT.context_window} tokens several times.`,
      `${killed.accepted} messages to a process that was killed ${killed.kills} times, each time while a summary was pending; ${counted(killed.repeated, 'post was', 'posts were')} sent again afterwards, with the same nonce.`,
      `${orphaned.asked} messages to a gateway whose worker was killed ${orphaned.kills === 1 ? 'once' : `${orphaned.kills} times`} during a call and then absent for some seconds, with ${orphaned.where}.`,
    ],
  };
}

function lost(figure: string, ours: number, baseline: Figure['baseline']): Figure {
  return { figure, unit: 'count', baseline, ours, bar: { of: 'ours', is: 'exactly', value: 0 } };
}

/** A reply that takes longer counts as lost. */
const PATIENCE_MS = 10_000;

async function talk(
  summariser: ChatModel,
  size: { readonly conversations: number; readonly turns: number },
): Promise<Outcome> {
  const times: number[] = [];
  let lostCount = 0;
  const words = createWords(2);
  await withWorld({ models: providerOf(replyModel(), summariser), agent: AGENT }, async (world) => {
    const converse = async (name: number) => {
      for (let turn = 0; turn < size.turns; turn += 1) {
        const asked = world.ask(conversationKey(name), { id: `m${turn}`, text: words.text(60) });
        const time = await within(asked, PATIENCE_MS);
        if (time === null) lostCount += 1;
        else times.push(time);
      }
    };
    await Promise.all(Array.from({ length: size.conversations }, (_, name) => converse(name)));
  });
  return { asked: size.conversations * size.turns, lost: lostCount, slowestMs: percentile(times, 100) };
}
