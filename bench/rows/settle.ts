import { type Exchange, readTalks } from '../data.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { largeReader, offlineReader, type Settled, settle } from '../settling.ts';

interface Setting {
  readonly windowTokens: number;
  /** Tokens read per token of transcript: the bars of both summarisers. */
  readonly bars: { readonly large: number; readonly offline: number };
}

const SETTINGS: readonly Setting[] = [
  { windowTokens: 8000, bars: { large: 2, offline: 3 } },
  { windowTokens: 4000, bars: { large: 3, offline: 4 } },
  { windowTokens: 2000, bars: { large: 4, offline: 5 } },
];
/** The longest recorded conversation of two people. */
const TALK = 4;
const MAX_LEVEL = 3;

/** What it takes to keep a long conversation within a small window, and where it comes to rest. */
export async function settled({ quick }: RowOptions): Promise<RowResult> {
  const talk = readTalks('locomo')?.[TALK];
  if (talk === undefined) return { figures: [], notes: ['Skipped: the evaluation data is not at ../shared/data.'] };
  const figures: Figure[] = [];
  for (const setting of quick ? SETTINGS.slice(0, 1) : SETTINGS) figures.push(...(await figuresFor(talk, setting)));
  return {
    figures,
    notes: [
      'One recorded conversation of 680 messages, half of them as answers. Each message waits for the work that the previous one caused. Tokens read are those of whole requests, including their instructions and condensing.',
    ],
  };
}

async function figuresFor(talk: readonly Exchange[], { windowTokens, bars }: Setting): Promise<readonly Figure[]> {
  const large = await settle(talk, { windowTokens, summariser: largeReader() });
  const offline = await settle(talk, { windowTokens, summariser: offlineReader() });
  const of = `window of ${windowTokens.toLocaleString('en')}`;
  return [
    ...readingFigures(`${of}, summariser that reads 32,000`, large, bars.large),
    ...readingFigures(`${of}, offline:demo`, offline, bars.offline),
    ...(windowTokens === 8000 ? [levelFigure(of, large), levelFigure(`${of}, offline:demo`, offline)] : []),
  ];
}

function readingFigures(of: string, settled: Settled, bar: number): readonly Figure[] {
  const cost = settled.readTokens / settled.transcriptTokens;
  const rest = { unit: 'share', baseline: null, bar: { of: 'ours', is: 'below', value: 0.8 } } as const;
  const none = { unit: 'count', baseline: null, bar: { of: 'ours', is: 'exactly', value: 0 } } as const;
  return [
    {
      figure: `tokens read per token of transcript, ${of}`,
      unit: 'share',
      baseline: null,
      ours: cost,
      bar: { of: 'ours', is: 'below', value: bar },
    },
    { figure: `highest view at rest, ${of}`, ours: settled.highestRatio, ...rest },
    { figure: `emergencies, ${of}`, ours: settled.emergencies, ...none },
  ];
}

function levelFigure(of: string, { highestLevel }: Settled): Figure {
  const bar = { of: 'ours', is: 'at most', value: MAX_LEVEL } as const;
  return { figure: `highest level of a summary, ${of}`, unit: 'count', baseline: null, ours: highestLevel, bar };
}
