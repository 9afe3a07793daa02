import { clockText } from '../context/label.ts';
import type { PendingReading } from '../conversation/reply-options.ts';
import { repliedToSection } from '../memory/focus.ts';
import { recallFor, waitingMessages } from '../memory/recall.ts';
import type { VolatileSection } from '../ports/engine.ts';
import { promptSourceOf } from '../prompts/variables.ts';
import { passagesFor } from '../search/recall-passages.ts';
import type { Services } from '../services.ts';

/** Sections for the newest message only: passages, memories, what it replies to, the clock. Never cached. */
export async function volatileFor(services: Services, reading: PendingReading): Promise<readonly VolatileSection[]> {
  const agent = services.agents.agentFor(reading.snapshot.conversation.key);
  const waiting = waitingMessages(reading);
  const [passages, recalled, repliedTo] = await Promise.all([
    passagesFor(services, { agent, snapshot: reading.snapshot, waiting }),
    recallFor(services, { ...reading, agent, maxTokens: recallTokensOf(reading) }),
    repliedToSection(services, { ...reading, timeZone: agent.timezone }),
  ]);
  const from = promptSourceOf(agent);
  const now = reading.now ?? services.clock.now();
  const clock: VolatileSection = {
    key: 'clock',
    text: services.prompts.render('clock', { now: clockText(now, agent.timezone) }, from).text,
    source: 'prompt clock',
    reason: 'the current time',
    memoryIds: [],
  };
  return [passages, recalled, repliedTo, clock].filter((section) => section !== null);
}

async function recallTokensOf({ profile }: PendingReading): Promise<number> {
  return (await profile).recallTokens;
}
