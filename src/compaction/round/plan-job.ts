import { maintenanceSettings } from '../../context/profile/call-settings.ts';
import type { Conversation } from '../../ports/store.ts';
import { type Due, isRequestedRewrite } from '../job/next-work.ts';
import type { PlannedCalls, PlannedJob } from '../job/run-job.ts';
import type { Progress } from './progress.ts';
import type { Summariser } from './summariser.ts';
import type { Task } from './task.ts';

/** The next attempt at the work, with what earlier ones have shown about the model and the text. */
export function planJob(
  task: Task,
  { asked, headTokens, doubt }: Progress,
  { look, work, summariser }: Due & { readonly summariser: Summariser },
): PlannedJob {
  const { services, claim, breaker, measureView } = task;
  const { conversation } = look.snapshot;
  const { agent } = summariser;
  const wish = (isRequestedRewrite(work) ? asked?.wish : task.request.instruction)?.trim() ?? '';
  return {
    call: callsOf(task, summariser, conversation),
    services,
    claim,
    breaker,
    measureView,
    conversation,
    agent,
    profile: look.profile,
    ready: look.canWait,
    // The prompt puts it in quotation marks, which it must not close.
    instruction: wish.replaceAll('"', "'"),
    headTokens,
    testsModel: doubt === 'open',
    leavesOut: false,
  };
}

/** How the job calls its model. */
function callsOf(
  { services, windows, toolless, reasoning, signal }: Task,
  { agent, model, windowTokens }: Summariser,
  conversation: Conversation,
): PlannedCalls {
  const { clock, hooks } = services;
  return {
    model,
    clock,
    hooks,
    // Learned for another agent, it may be larger than what this one sets.
    windowTokens: Math.min(windowTokens, windows.get(model.id) ?? windowTokens),
    timeoutMs: agent.compaction.timeout_seconds * 1000,
    where: { conversation: conversation.key, audience: conversation.audience, agentId: agent.id, model: model.id },
    settings: maintenanceSettings(agent),
    avoidsTools: avoidsTools(conversation),
    signal,
    toolless,
    reasoning,
  };
}

/** Some models and servers fail over the form of calls, every time. From the third attempt on, every second is without. */
function avoidsTools({ failures }: Conversation): boolean {
  return failures >= 2 && failures % 2 === 0;
}
