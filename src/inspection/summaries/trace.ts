import { cachedStem } from '../../search/words/stem.ts';
import { tellingWords } from '../../search/words/stop-words.ts';
import { tokensOf } from '../../search/words/words.ts';

/** A sentence of a summary with the sources that say the same, best first, by their index. */
export interface TracedSentence {
  readonly text: string;
  readonly sources: readonly number[];
}

/** The lines of a summary, each with its sentences. */
export type TracedText = readonly (readonly TracedSentence[])[];

const MAX_SOURCES = 4;
/** A source must share at least this much of a sentence's words. */
const MIN_SHARE = 0.25;
/** It must also share at least this much of what the best source shares. */
const NEAR_BEST = 0.55;

/** Pure: which sources each sentence of a text came from, judged by their rare words. */
export function traceSentences(text: string, sources: readonly string[]): TracedText {
  const index = createIndex(sources);
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => sentencesIn(line).map((sentence) => ({ text: sentence, sources: index.sourcesOf(sentence) })));
}

/** Created on first use, because it loads tables. */
let segmenter: Intl.Segmenter | null = null;

const SENTENCE_END = /\p{Sentence_Terminal}/u;

function sentencesIn(line: string): readonly string[] {
  if (!SENTENCE_END.test(line)) return [line];
  segmenter ??= new Intl.Segmenter('en', { granularity: 'sentence' });
  return [...segmenter.segment(line)].map(({ segment }) => segment);
}

function stemsOf(text: string): ReadonlySet<string> {
  return new Set(tellingWords(tokensOf(text)).map(cachedStem));
}

function createIndex(sources: readonly string[]): { sourcesOf(sentence: string): readonly number[] } {
  const places = new Map<string, number[]>();
  for (const [place, source] of sources.entries()) {
    for (const stem of stemsOf(source)) {
      const known = places.get(stem);
      if (known === undefined) places.set(stem, [place]);
      else known.push(place);
    }
  }
  const weightOf = (stem: string): number => Math.log(1 + sources.length / (1 + (places.get(stem)?.length ?? 0)));
  return {
    sourcesOf(sentence) {
      const shared = new Map<number, number>();
      let whole = 0;
      for (const stem of stemsOf(sentence)) {
        const weight = weightOf(stem);
        whole += weight;
        for (const place of places.get(stem) ?? []) shared.set(place, (shared.get(place) ?? 0) + weight);
      }
      return best([...shared], whole);
    },
  };
}

function best(shared: readonly (readonly [place: number, weight: number])[], whole: number): readonly number[] {
  const highest = shared.reduce((most, [, weight]) => Math.max(most, weight), 0);
  return shared
    .filter(([, weight]) => weight >= MIN_SHARE * whole && weight >= NEAR_BEST * highest)
    .toSorted((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, MAX_SOURCES)
    .map(([place]) => place);
}
