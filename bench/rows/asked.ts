import { z } from 'zod';
import { type Asked, askRecorded } from '../asked.ts';
import { runChild } from '../child.ts';
import { withDirectory } from '../directory.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { startFlags } from '../flags.ts';
import { fillLong } from '../passage-times.ts';
import { mean, percentile } from '../samples.ts';

interface Setting {
  readonly folder: string;
  readonly title: string;
  readonly windowTokens: number;
  /** Minimum share of the evidence that is in view. Null for windows that are too small for most of it. */
  readonly bar: number | null;
}

const SETTINGS: readonly Setting[] = [
  { folder: 'locomo', title: 'LoCoMo', windowTokens: 2000, bar: null },
  { folder: 'locomo', title: 'LoCoMo', windowTokens: 4000, bar: null },
  { folder: 'locomo', title: 'LoCoMo', windowTokens: 8000, bar: 0.82 },
  { folder: 'locomo', title: 'LoCoMo', windowTokens: 32_000, bar: 0.92 },
  { folder: 'beam-100k', title: 'BEAM-100K', windowTokens: 2000, bar: null },
  { folder: 'beam-100k', title: 'BEAM-100K', windowTokens: 4000, bar: null },
  { folder: 'beam-100k', title: 'BEAM-100K', windowTokens: 8000, bar: 0.5 },
  { folder: 'beam-100k', title: 'BEAM-100K', windowTokens: 32_000, bar: 0.62 },
];
const USUAL_WINDOW = 8000;
const ENTRIES = 100_000;
const CHILD = new URL('../children/recall.process.ts', import.meta.url);

/** What the model sees of the past without calling a tool, and what that costs when nobody asks. */
export async function asked({ quick }: RowOptions): Promise<RowResult> {
  const figures: Figure[] = [];
  for (const setting of SETTINGS.filter(({ windowTokens }) => !quick || windowTokens === USUAL_WINDOW)) {
    const found = await askRecorded(setting);
    if (found === null) continue;
    figures.push(inViewFigure(setting, found));
    if (setting.windowTokens !== USUAL_WINDOW) continue;
    figures.push(quotedFigure(setting, found), ...(await ordinaryFigures(setting)));
  }
  figures.push(await latencyFigure(quick ? 100 : 1000));
  return {
    figures,
    notes: [
      'Strict evidence messages of all question categories, each question asked as the newest message of a conversation at rest, without a tool call. The weights of the ranking were fitted on these conversations; `node bench/asked.ts DIRECTORY` measures others, and prints every category.',
      'Ordinary messages are what people said in the second half of a conversation, each sent when the first half is stored.',
      `Passages among many entries are measured in a separate process with the flags of \`npm start\` (${startFlags().join(' ')}).`,
    ],
  };
}

function inViewFigure({ title, windowTokens, bar }: Setting, found: readonly Asked[]): Figure {
  return {
    figure: `${title} evidence in view, window of ${windowTokens.toLocaleString('en')}`,
    unit: 'share',
    baseline: null,
    ours: mean(found.map(({ evidenceInView }) => evidenceInView)),
    bar: bar === null ? null : { of: 'ours', is: 'at least', value: bar },
  };
}

function quotedFigure({ title }: Setting, found: readonly Asked[]): Figure {
  const ours = mean(found.map(({ hasPassages }) => Number(hasPassages)));
  return { figure: `${title} questions with passages`, unit: 'share', baseline: null, ours, bar: null };
}

async function ordinaryFigures({ folder, title }: Setting): Promise<readonly Figure[]> {
  const found = (await askRecorded({ folder, windowTokens: USUAL_WINDOW, ordinary: true })) ?? [];
  return [
    {
      figure: `${title} ordinary messages with passages`,
      unit: 'share',
      baseline: null,
      ours: mean(found.map(({ hasPassages }) => Number(hasPassages))),
      bar: { of: 'ours', is: 'at most', value: 0.05 },
    },
    {
      figure: `${title} tokens of passages per ordinary message`,
      unit: 'count',
      baseline: null,
      ours: mean(found.map(({ passageTokens }) => passageTokens)),
      bar: { of: 'ours', is: 'below', value: 60 },
    },
  ];
}

/** What the search for passages adds to a reply in a long conversation. */
async function latencyFigure(rounds: number): Promise<Figure> {
  return await withDirectory(async (directory) => {
    await fillLong(directory, ENTRIES);
    const times = await runChild({ file: CHILD, args: [directory, rounds], report: z.array(z.number()) });
    return {
      figure: `passages among ${ENTRIES.toLocaleString('en')} entries, p99`,
      unit: 'ms',
      baseline: null,
      ours: percentile(times, 99),
      bar: { of: 'ours', is: 'below', value: 10 },
    };
  });
}
