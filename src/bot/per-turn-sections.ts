import { passageTokens } from '../context/fit/passages.ts';
import { clockText } from '../context/view/label.ts';
import type { PendingReading } from '../conversation/turn/reply-options.ts';
import { namesakesSection } from '../memory/people/namesakes.ts';
import { repliedToSection } from '../memory/recall/focus.ts';
import { recallFor, waitingMessages } from '../memory/recall/recall.ts';
import type { PassageSection, VolatileSection } from '../ports/sections.ts';
import { promptSourceOf } from '../prompts/variables.ts';
import { passagesFor } from '../search/passages/recall-passages.ts';
import type { Services } from '../services.ts';

/** Sections for the newest message only: passages, memories, what it replies to, namesakes, the clock. Never cached. */
export async function volatileFor(services: Services, reading: PendingReading): Promise<readonly VolatileSection[]> {
  const agent = services.agents.agentFor(reading.snapshot.conversation.key);
  const waiting = waitingMessages(reading);
  const quoting = passagesFor(services, { agent, snapshot: reading.snapshot, waiting });
  const maxTokens = () => memoryTokensOf(reading, quoting);
  const [passages, recalled, repliedTo] = await Promise.all([
    quoting,
    recallFor(services, { ...reading, agent, maxTokens }),
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
  return [passages, recalled, repliedTo, namesakesIn(reading), clock].filter((section) => section !== null);
}

function namesakesIn({ snapshot, newest }: PendingReading): VolatileSection | null {
  const { conversation, tail } = snapshot;
  return conversation.audience === 'dm' ? null : namesakesSection(tail.filter(({ seq }) => seq <= newest.seq));
}

/** At least half of the share for recalled text, and what the passages leave. */
async function memoryTokensOf(
  { profile, snapshot }: PendingReading,
  quoting: Promise<PassageSection | null>,
): Promise<number> {
  const { recallTokens } = await profile;
  const section = await quoting;
  const firstSeq = snapshot.tail[0]?.seq ?? snapshot.conversation.nextSeq;
  const wantedTokens = section === null ? 0 : passageTokens(section, firstSeq);
  return Math.max(Math.floor(recallTokens / 2), recallTokens - wantedTokens);
}
