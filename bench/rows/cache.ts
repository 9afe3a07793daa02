import { type Exchange, readTalks } from '../data.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { type Published, play } from '../publishing.ts';
import { formatRows } from '../table.ts';

interface Setting {
  readonly windowTokens: number;
  /** The lowest share of a request that repeats the one before; null without a bar. */
  readonly share: number | null;
}

const SETTINGS: readonly Setting[] = [
  { windowTokens: 4000, share: null },
  { windowTokens: 8000, share: 0.95 },
  { windowTokens: 16_000, share: 0.975 },
  { windowTokens: 32_000, share: null },
  { windowTokens: 64_000, share: null },
  { windowTokens: 128_000, share: null },
];
const MAX_COST = 0.9;
/** The longest recorded conversation of two people. */
const TALK = 4;
/** Larger windows need longer messages: so many conversations with long answers, one after another. */
const LONG_TALKS = 3;
const LARGE_WINDOW = 32_000;

/** What replies and summaries cost with a provider that caches prefixes, and how much of a request repeats. */
export async function cache({ quick }: RowOptions): Promise<RowResult> {
  const talks = readTalks('locomo');
  const long = readTalks('beam-100k');
  const talk = talks?.[TALK];
  if (talk === undefined || long === null)
    return { figures: [], notes: ['Skipped: the evaluation data is not at ../shared/data.'] };
  const people = talk.flatMap(turnsOf);
  const answers = withPauses(long.slice(0, LONG_TALKS).flat(), people);
  const figures: Figure[] = [];
  const rows: string[][] = [['window', 'at the cheapest moment', 'at once', 'sliding window', 'losses by cause']];
  for (const setting of quick ? SETTINGS.slice(1, 2) : SETTINGS) {
    const { windowTokens } = setting;
    const played = windowTokens < LARGE_WINDOW ? people : answers;
    const cheapest = await play(played, { windowTokens, way: 'cheapest' });
    const immediate = await play(played, { windowTokens, way: 'immediate' });
    const sliding = await play(played, { windowTokens, way: 'sliding' });
    figures.push(...figuresOf(setting, cheapest, immediate));
    rows.push([windowTokens.toLocaleString('en'), ...[cheapest, immediate, sliding].map(cellOf), causesOf(cheapest)]);
  }
  return { figures, notes: NOTES, tables: [formatRows(rows)] };
}

const NOTES = [
  'Windows up to 16,000 tokens hold a conversation of two people (680 messages, each with a short answer), larger windows one with long answers and code. Pauses are those of the two people: half a minute, or days between their meetings. The provider keeps a prefix for five minutes; reading it costs a tenth of the price of other input, writing it 1.25 times that price, and an output token five times that price. Costs are for 100 turns in thousands of input tokens, summaries included. The share of a request that repeats the one before ignores pauses.',
];

const SHORT_ANSWER = 'Noted. That fits what was agreed before, so nothing else has to change.';
/** Between two messages of one meeting. */
const MESSAGE_MS = 30_000;

/** Both people talk to the bot. */
function turnsOf({ said, answer, pauseMs }: Exchange): readonly Exchange[] {
  const first = { said, answer: SHORT_ANSWER, pauseMs: Math.max(0, pauseMs - MESSAGE_MS) };
  return answer === '' ? [first] : [first, { said: answer, answer: SHORT_ANSWER, pauseMs: MESSAGE_MS }];
}

/** The long answers have no times. */
function withPauses(talk: readonly Exchange[], people: readonly Exchange[]): readonly Exchange[] {
  return talk.map((exchange, index) => ({ ...exchange, pauseMs: people[index % people.length]?.pauseMs ?? 0 }));
}

function figuresOf({ windowTokens, share }: Setting, ours: Published, immediate: Published): readonly Figure[] {
  const of = `window of ${windowTokens.toLocaleString('en')}`;
  const unknown = ours.losses.get('unknown') ?? 0;
  return [
    {
      figure: `cost of 100 turns in thousands of input tokens, ${of}`,
      unit: 'count',
      ours: costOf(ours),
      baseline: { of: 'published at once', value: costOf(immediate) },
      bar: { of: 'ratio', is: 'at most', value: MAX_COST },
    },
    {
      figure: `share of a request that repeats the last, ${of}`,
      unit: 'share',
      ours: ours.cacheableShare,
      baseline: { of: 'published at once', value: immediate.cacheableShare },
      bar: share === null ? null : { of: 'ours', is: 'at least', value: share },
    },
    {
      figure: `unexplained losses, ${of}`,
      unit: 'count',
      baseline: null,
      ours: unknown,
      bar: { of: 'ours', is: 'exactly', value: 0 },
    },
  ];
}

function costOf({ cost, turns }: Published): number {
  return (cost / turns) * (100 / 1000);
}

function cellOf(published: Published): string {
  return `${costOf(published).toFixed(1)}, repeats ${published.cacheableShare.toFixed(3)}`;
}

function causesOf({ losses }: Published): string {
  return [...losses].map(([cause, times]) => `${times} ${cause}`).join(', ');
}
