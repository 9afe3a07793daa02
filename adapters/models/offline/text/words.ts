import { relatedWords, stopWords } from './word-lists.ts';

const WORD = /[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu;
const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;

/** The stemmed topic words of a text; scripts without spaces give pairs of characters. */
export function topicWords(text: string): readonly string[] {
  const spaced = text.replace(IDEOGRAPHS, ' ').toLowerCase().match(WORD) ?? [];
  const stems = spaced
    .map((found) => found.replaceAll('’', "'"))
    .filter((found) => !stopWords.has(found))
    .map(stem)
    .filter((found) => found.length > 1 || /\d/.test(found));
  const pairs = (text.match(IDEOGRAPHS) ?? []).flatMap(characterPairs);
  return [...stems, ...pairs];
}

/** Verbs of preference match too many sentences to identify one. */
const WEAK_WORDS: ReadonlySet<string> = new Set(
  'like love prefer enjoy favourite favorite want need dislike hate do mag liebe'
    .split(' ')
    .map((found) => stem(found)),
);

export function isWeak(stemmedWord: string): boolean {
  return WEAK_WORDS.has(stemmedWord);
}

/** Words that a sentence may contain instead of those of the question, with their weights. */
export function relatedTo(text: string): ReadonlyMap<string, number> {
  const words = text.toLowerCase().match(WORD) ?? [];
  const signs = new Map<string, number>();
  for (const asked of [...words, ...text]) {
    const worth = isWeak(stem(asked)) ? 0.4 : 1;
    for (const answer of relatedWords.get(asked) ?? RELATED_STEMS.get(stem(asked)) ?? []) {
      const answering = stem(answer);
      signs.set(answering, Math.max(worth, signs.get(answering) ?? 0));
    }
  }
  return signs;
}

/**
 * Removes the most common endings, so that "prefers" matches "prefer". Deliberately rough: both sides are treated
 * alike.
 */
export function stem(found: string): string {
  const bare = found.replace(/'s$|'$/, '');
  if (bare.length < 4 || /[^a-z]/.test(bare)) return bare;
  if (/(?:ss|us|is)$/.test(bare)) return bare;
  const short = bare
    .replace(/(?:ies|ied)$/, 'y')
    .replace(/(?<=[a-z]{3})(?:ing|ed)$/, '')
    .replace(/(?<=x|sh|ch|ss)es$/, '')
    .replace(/(?<=[a-z]{2})s$/, '');
  return short.replace(/([bdgklmnprt])\1$/, '$1').replace(/(?<=[a-z]{3})e$/, '');
}

function characterPairs(run: string): readonly string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

const RELATED_STEMS = new Map([...relatedWords].map(([key, words]) => [stem(key), words]));

/** The share of the first text's topic words that the second contains. */
export function overlap(text: string, other: string): number {
  const words = new Set(topicWords(text));
  if (words.size === 0) return 0;
  const others = new Set(topicWords(other));
  return [...words].filter((found) => others.has(found)).length / words.size;
}

/** A number that depends only on the text: reproducible pseudo-randomness. */
function hashOf(text: string): number {
  let hash = 2166136261;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619) >>> 0;
  return hash;
}

export function pick<Value>(values: readonly Value[], seed: string): Value {
  const value = values[hashOf(seed) % values.length];
  if (value === undefined) throw new RangeError('There is nothing to pick from.');
  return value;
}
