import { createSqliteStorage } from '../adapters/stores/sqlite/index.ts';
import { packTokens, searchTranscript } from '../src/search/ranking/transcript-search.ts';
import type { Storage } from '../src/services.ts';
import { withDirectory } from './directory.ts';
import { RECORDED, type RecordedQuestion, readRecorded, storeRecorded } from './recorded.ts';
import { mean } from './samples.ts';

/**
 * How well transcript search finds the messages that answer a question, without a model: plain full-text search next to
 * Strata's, on the same store, in one run. `node bench/recall.ts`, or `node bench/recall.ts DIRECTORY` for other data
 * of the same shape.
 */

const BUDGETS = [250, 500, 1000, 2000, 4000, 8000] as const;
const DEEPEST = 400;

const SETS = [
  { folder: 'locomo', title: 'LoCoMo', k: 20, bars: { recall: 0.84, budget: 0.9 } },
  { folder: 'beam-100k', title: 'BEAM-100K', k: 10, bars: { recall: 0.6, budget: null } },
] as const;
type EvaluationSet = (typeof SETS)[number];

/** One line of the result: a figure, the plain full-text search next to it, and the bar if there is one. */
export interface RecallRow {
  readonly figure: string;
  readonly ours: number;
  readonly baseline: number;
  readonly bar: number | null;
  readonly unit: 'share' | 'ms';
}

interface Loaded {
  readonly name: string;
  readonly conversationId: number;
  readonly questions: readonly RecordedQuestion[];
}

interface Scored {
  readonly conversation: string;
  readonly category: string;
  readonly recall: (k: number) => number;
  readonly withinTokens: (tokens: number) => number;
  readonly reciprocalRank: number;
  readonly durationMs: number;
}

/** Null if the evaluation data is missing. Passes the details to `print`. */
export async function recallBench(
  print: (line: string) => void,
  data: string = RECORDED,
): Promise<readonly RecallRow[] | null> {
  const present = SETS.flatMap((set) => {
    const recorded = readRecorded(set.folder, data);
    return recorded === null ? [] : [{ set, recorded }];
  });
  if (present.length === 0) {
    print(`Skipped: the evaluation data is not at ${data}.`);
    return null;
  }
  return await withDirectory(async (directory) => {
    const storage = await createSqliteStorage({ directory });
    try {
      const loaded = new Map<EvaluationSet, readonly Loaded[]>();
      for (const { set, recorded } of present) {
        const stored = recorded.map(async (conversation) => {
          const { id } = await storeRecorded(storage, { ...conversation, workspace: set.folder });
          return { name: conversation.name, conversationId: id, questions: conversation.questions };
        });
        loaded.set(set, await Promise.all(stored));
      }
      const rows: RecallRow[] = [];
      for (const [set, conversations] of loaded) rows.push(...(await evaluate({ storage, set, conversations, print })));
      return rows;
    } finally {
      await storage.store.close();
    }
  });
}

interface Evaluation {
  readonly storage: Storage;
  readonly set: EvaluationSet;
  readonly conversations: readonly Loaded[];
  readonly print: (line: string) => void;
}

async function evaluate({ storage, set, conversations, print }: Evaluation): Promise<readonly RecallRow[]> {
  const own: Scored[] = [];
  const beside: Scored[] = [];
  for (const conversation of conversations) {
    for (const asked of conversation.questions) {
      if (asked.evidence.length === 0) continue;
      own.push(await score(conversation, asked, ours(storage, conversation)));
      beside.push(await score(conversation, asked, plain(storage, conversation)));
    }
  }
  const scored = { own, beside };
  const rows = rowsOf(set, scored);
  const { k, title } = set;
  print(
    `\n${title}: ${conversations.length} conversations, ${own.length} questions with evidence, strict, mean over questions`,
  );
  for (const one of rows) print(`  ${formatRow(one)}`);
  const byConversation = (one: Scored) => one.conversation;
  printGroups(print, `recall@${k} by category`, { ...scored, by: (one) => one.category, of: (one) => one.recall(k) });
  printGroups(print, `recall@${k} by conversation`, { ...scored, by: byConversation, of: (one) => one.recall(k) });
  printGroups(print, 'recall in 2000 tokens by conversation', {
    ...scored,
    by: byConversation,
    of: (one) => one.withinTokens(2000),
  });
  return rows;
}

interface BothWays {
  readonly own: readonly Scored[];
  readonly beside: readonly Scored[];
}

function rowsOf({ k, title, bars }: EvaluationSet, { own, beside }: BothWays): readonly RecallRow[] {
  const row = (figure: string, of: (scored: Scored) => number, bar: number | null = null): RecallRow => ({
    figure: `${title} ${figure}`,
    ours: mean(own.map(of)),
    baseline: mean(beside.map(of)),
    bar,
    unit: 'share',
  });
  return [
    ...[5, 10, 20].map((depth) => row(`recall@${depth}`, (one) => one.recall(depth), depth === k ? bars.recall : null)),
    row(`any hit@${k}`, (one) => Number(one.recall(k) > 0)),
    row('MRR', (one) => one.reciprocalRank),
    ...BUDGETS.map((tokens) =>
      row(`recall in ${tokens} tokens`, (one) => one.withinTokens(tokens), tokens === 2000 ? bars.budget : null),
    ),
    ...[50, 95].map((percent) => ({
      figure: `${title} latency p${percent}`,
      ours: percentile(own, percent),
      baseline: percentile(beside, percent),
      bar: null,
      unit: 'ms' as const,
    })),
  ];
}

interface Found {
  readonly id: string;
  readonly score: number;
  readonly tokens: number;
}

interface Way {
  find(question: string): Promise<readonly Found[]>;
  pack(found: readonly Found[], tokens: number): readonly Found[];
}

function ours({ store, search }: Storage, { conversationId }: Loaded): Way {
  return {
    find: (question) => searchTranscript({ store, search }, { conversationId, question, limit: DEEPEST }),
    pack: packTokens,
  };
}

/** BM25 over single messages, the result of a full-text index alone. Packed in the order of rank. */
function plain({ store, search }: Storage, { conversationId }: Loaded): Way {
  return {
    async find(question) {
      const hits = await search.entries({ conversationId, text: question, limit: DEEPEST });
      const seqs = hits.map((hit) => hit.seq);
      const entries = new Map((await store.transcript.pick(conversationId, seqs)).map((entry) => [entry.seq, entry]));
      return hits.flatMap(({ seq, score }) => {
        const entry = entries.get(seq);
        return entry === undefined ? [] : [{ id: entry.externalId ?? '', score, tokens: entry.tokens }];
      });
    },
    pack(found, tokens) {
      let left = tokens;
      return found.filter((hit) => {
        if (hit.tokens > left) return false;
        left -= hit.tokens;
        return true;
      });
    },
  };
}

async function score(conversation: Loaded, asked: RecordedQuestion, way: Way): Promise<Scored> {
  const startedAt = performance.now();
  const found = await way.find(asked.question);
  const durationMs = performance.now() - startedAt;
  const evidence = new Set(asked.evidence);
  const share = (hits: readonly Found[]) => hits.filter((hit) => evidence.has(hit.id)).length / evidence.size;
  const first = found.findIndex((hit) => evidence.has(hit.id));
  return {
    conversation: conversation.name,
    category: asked.category,
    recall: (k) => share(found.slice(0, k)),
    withinTokens: (tokens) => share(way.pack(found, tokens)),
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
    durationMs,
  };
}

interface Groups extends BothWays {
  readonly by: (scored: Scored) => string;
  readonly of: (scored: Scored) => number;
}

function printGroups(print: (line: string) => void, title: string, { own, beside, by, of }: Groups): void {
  print(`  ${title}:`);
  for (const [name, group] of [...Map.groupBy(own, by)].sort(([a], [b]) =>
    a.localeCompare(b, 'en', { numeric: true }),
  )) {
    const plainly = beside.filter((one) => by(one) === name);
    print(
      `    ${name.padEnd(26)} ${mean(group.map(of)).toFixed(3)}  baseline ${mean(plainly.map(of)).toFixed(3)}  (${group.length})`,
    );
  }
}

function formatRow({ figure, ours, baseline, bar, unit }: RecallRow): string {
  const digits = unit === 'ms' ? 1 : 3;
  const verdict = bar === null ? '' : `  bar ${bar.toFixed(2)} ${ours >= bar ? 'reached' : 'MISSED'}`;
  return `${figure.padEnd(34)} ${ours.toFixed(digits)}  baseline ${baseline.toFixed(digits)}${unit === 'ms' ? ' ms' : ''}${verdict}`;
}

function percentile(scored: readonly Scored[], percent: number): number {
  const sorted = scored.map((one) => one.durationMs).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}

if (import.meta.main) await recallBench((line) => console.log(line), process.argv[2]);
