import { ModelError, type ModelRequest } from '../../../src/adapter-kit.ts';
import { estimateRequest } from '../../../src/context/measure/tokens.ts';
import type { BotWorld } from '../../support/bot-world.ts';
import { filler, type Said, type Script, transcriptIn } from '../compaction/compaction.world.ts';
import type { Oracle } from './oracle.world.ts';
import { newestWord, volatileText } from './request.world.ts';
import type { Mood, Telling, Trouble } from './steps.world.ts';
import { FACTS, STATEMENT, type Story, WINDOW } from './story.world.ts';

/** The scripted models: the replying one follows instructions in the message, the summariser its current mode. */
export interface Scripts {
  readonly reply: Script;
  readonly summarise: Script;
}

export interface ScriptParts {
  readonly story: Story;
  readonly oracle: Oracle;
  readonly world: () => BotWorld;
}

export function createScripts({ story, oracle, world }: ScriptParts): Scripts {
  return {
    reply: async (request, { signal }) => {
      story.requests += 1;
      await oracle.inspectReply(request, signal);
      const inputTokens = await countedTokens(request, story, world());
      if (story.isHolding) await parked(story.held, signal);
      const ask = story.byWord.get(newestWord(request));
      const trouble = troubleOf(ask, story);
      if (trouble === 'cut') return { text: 'I was about', cut: true };
      if (trouble !== 'none') throw failure(trouble);
      // Some providers report no count.
      const reported = story.requests % 5 === 0 ? 0 : inputTokens;
      const calls = ask?.telling.rounds[story.turn.step];
      if (calls === undefined) return { text: replyText(request, story, ask?.telling), inputTokens: reported };
      return { calls: nextCalls(calls, story, ask?.telling), inputTokens: reported };
    },
    summarise: async (request, { signal }) => {
      oracle.inspectSummariser(request);
      const { mood } = story;
      if (mood === 'slow') await parked(story.waiting, signal);
      const isRefusal = mood === 'refuses' || mood === 'empties';
      story.isLossy ||= mood === 'talks' || (request.purpose === 'extract' && isRefusal);
      if (mood === 'fails') throw new ModelError({ model: 'test:summariser', reason: 'transient', detail: 'HTTP 500' });
      if (mood === 'refuses') return { text: "I'm sorry, but I cannot help with that." };
      return mood === 'empties' ? { text: '' } : summaryOf(request, mood);
    },
  };
}

/** The provider's token count; throws an overflow like a provider. */
async function countedTokens(request: ModelRequest, story: Story, world: BotWorld): Promise<number> {
  const counted = estimateRequest(request) * story.ratio;
  if (counted + request.maxOutputTokens <= WINDOW) return Math.round(counted);
  const { calibration } = await world.conversation();
  if ((calibration?.samples ?? 0) > 0) {
    story.violations.push(`the provider counts ${Math.round(counted)} tokens although its count is known`);
  }
  throw new ModelError({ model: 'test:chat', reason: 'overflow', detail: 'prompt is too long' });
}

/** The trouble of a message happens once, in the first step of its turn. */
function troubleOf(ask: { readonly word: string; readonly telling: Telling } | undefined, story: Story): Trouble {
  const isFirst = story.turn.step === 0 && story.troubled !== ask?.word;
  const trouble = isFirst ? (ask?.telling.trouble ?? 'none') : 'none';
  if (trouble !== 'none') story.troubled = ask?.word ?? '';
  return trouble;
}

function failure(trouble: 'overflow' | 'busy' | 'down'): ModelError {
  switch (trouble) {
    case 'overflow':
      return new ModelError({ model: 'test:chat', reason: 'overflow', detail: 'too long' });
    case 'busy':
      return new ModelError({ model: 'test:chat', reason: 'transient', detail: '503' });
    case 'down':
      return new ModelError({ model: 'test:chat', reason: 'fatal', detail: '400' });
    default:
      return trouble satisfies never;
  }
}

/** Sometimes the bot repeats a recalled memory. */
function replyText(request: ModelRequest, { word }: Story, telling: Telling | undefined): string {
  const recalled = volatileText(request).match(STATEMENT) ?? [];
  return `${word('r')} ${recalled.join(' ')} ${filler(telling?.replies ?? 5)}`;
}

function nextCalls(count: number, { turn, word }: Story, telling: Telling | undefined) {
  const canaries = Array.from({ length: count }, () => word('t'));
  turn.step += 1;
  turn.results.push(...canaries);
  return canaries.map((canary) => ({ tool: 'look', input: { canary, size: telling?.resultSize ?? 'short' } }));
}

/** Waits to be resumed, or for the end of the call. */
function parked(where: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const resume = () => {
      where.delete(resume);
      resolve();
    };
    const stop = () => {
      where.delete(resume);
      reject(new ModelError({ model: 'test', reason: 'aborted', detail: 'stopped' }));
    };
    if (signal.aborted) return stop();
    where.add(resume);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Carries the facts over, and proposes each line with a fact, whoever said it. */
function summaryOf(request: ModelRequest, mood: Mood): Said {
  const transcript = transcriptIn(request);
  const facts = [...new Set(transcript.match(FACTS) ?? [])].slice(0, 12);
  const summary = `In 2026 Ada, Bob and the assistant talked about ${facts.join(', ') || 'the weather'}.`;
  if (request.purpose === 'condense' || mood === 'talks') return { text: summary };
  const lines = transcript.split(/\n(?=\[#)/u);
  const calls = lines.flatMap((line) => {
    const seq = Number(/^\[#(\d+) \|/u.exec(line)?.[1] ?? 0);
    return [...new Set(line.match(STATEMENT) ?? [])].map((text) => ({
      tool: 'memory_save',
      input: { kind: 'fact', text, sources: [seq], importance: 0.7 },
    }));
  });
  if (request.purpose === 'extract') return { calls };
  return { calls: [{ tool: 'summary_save', input: { summary } }, ...calls] };
}
