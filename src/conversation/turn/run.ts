import { storeUsage } from '../../costs/store-usage.ts';
import { askedIn } from '../state/snapshot.ts';
import type { EndedTurn } from './end.ts';
import { createOpenedImages } from './images/opened-images.ts';
import type { TurnLimits } from './loop/effects.ts';
import { runTurn } from './loop/turn-loop.ts';
import { createModelCalls } from './model-calls.ts';
import type { PreparedTurn } from './prepare.ts';
import type { ReplyOptions } from './reply-options.ts';
import { createToolCalls } from './tool-calls.ts';
import { createTurnRequests } from './turn-requests.ts';

/**
 * Runs a prepared turn to its end. The effects live only as long as the loop; plain findings are left. Rejects like
 * `runTurn`, and has then stored what its calls cost.
 */
export async function run(options: ReplyOptions, turn: PreparedTurn): Promise<EndedTurn> {
  const { profile, snapshot, newest } = turn.basis;
  const { clock } = options.services;
  const askSeq = Math.min(askedIn(snapshot, newest).seq, newest.seq);
  const past = options.refusedPasts.open({ profile, askSeq });
  const images = createOpenedImages(profile.traits);
  const requests = createTurnRequests(turn, { clock, past, images });
  const model = createModelCalls(options, turn, past);
  const tools = createToolCalls(options, turn, { past, images });
  const effects = { ...requests.effects, ...model.effects, ...tools.effects };
  try {
    const outcome = await runTurn({ ...limitsOf(turn), ...effects }, `t${newest.seq}`);
    return { outcome, findings: { request: requests.last(), ...model.findings(), ...tools.findings() } };
  } catch (error) {
    await storeUsage(options.services, turn.child?.payer ?? snapshot.conversation, model.findings().usage);
    throw error;
  }
}

function limitsOf({ agent, basis: { profile }, child }: PreparedTurn): TurnLimits {
  return {
    purpose: child === undefined ? 'reply' : 'child',
    modelId: profile.modelId,
    maxSteps: agent.max_steps,
    maxOutputTokens: profile.reserveTokens,
  };
}
