import { trimEndWhile } from '../../../../src/adapter-kit.ts';
import { betweenWords, fixedVerbs, irregularThird } from './verbs.ts';

/** "I prefer tea" becomes "Ada prefers tea". English only; other languages keep their words. */
export function toThirdPerson(sentence: string, name: string): string {
  const open = expand(sentence);
  const words = open.split(' ');
  const shifted: string[] = [];
  let verbDue = false;
  for (const word of words) {
    const bare = word
      .toLowerCase()
      .replace(/[^\p{L}'’]/gu, '')
      .replaceAll('’', "'");
    if (bare === 'i') {
      shifted.push(replaceCore(word, name));
      verbDue = true;
    } else if (verbDue && !betweenWords.has(bare)) {
      shifted.push(replaceCore(word, thirdPerson(bare, word)));
      verbDue = false;
    } else {
      shifted.push(replacePossessive(word, bare, name));
    }
  }
  return shifted.join(' ');
}

/** "I prefer my tea hot" becomes "you prefer your tea hot". */
export function toSecondPerson(sentence: string): string {
  return expand(sentence).replace(
    /\b(?:I am|I was|am I|you are|are you|I|my|mine|myself|me|your|yours|yourself|you)\b/gi,
    (word) => SECOND_PERSON.get(word.toLowerCase()) ?? word,
  );
}

/** In both directions, so that statements addressed to the bot are not turned into statements about the person. */
const SECOND_PERSON: ReadonlyMap<string, string> = new Map([
  ['i am', 'you are'],
  ['i was', 'you were'],
  ['am i', 'are you'],
  ['you are', 'I am'],
  ['are you', 'am I'],
  ['i', 'you'],
  ['me', 'you'],
  ['my', 'your'],
  ['mine', 'yours'],
  ['myself', 'yourself'],
  ['you', 'me'],
  ['your', 'my'],
  ['yours', 'mine'],
  ['yourself', 'myself'],
]);

export function speaksOfSelf(sentence: string): boolean {
  return /\b(?:I|I'm|I’m|I've|I’ve|I'll|I’ll|I'd|I’d|my|me|mine|ich|mein|meine|mich|mir)\b|我/u.test(sentence);
}

function expand(sentence: string): string {
  return sentence
    .replace(/\bI['’]m\b/gi, 'I am')
    .replace(/\bI['’]ve\b/gi, 'I have')
    .replace(/\bI['’]ll\b/gi, 'I will')
    .replace(/\bI['’]d\b/gi, 'I would')
    .replace(/\bim\b(?= (?:a|an|from|at|in|on|not|allergic)\b)/gi, 'I am')
    .replace(/(?<=^|\s)i(?=\s)/g, 'I');
}

function replacePossessive(word: string, bare: string, name: string): string {
  if (bare === 'my' || bare === 'mine') return replaceCore(word, possessive(name));
  if (bare === 'me') return replaceCore(word, name);
  if (bare === 'myself') return replaceCore(word, 'themself');
  return word;
}

export function possessive(name: string): string {
  return /s$/i.test(name) ? `${name}'` : `${name}'s`;
}

function thirdPerson(bare: string, word: string): string {
  const irregular = irregularThird.get(bare);
  if (irregular !== undefined) return irregular;
  const core = trimEndWhile(word.replace(/^[^\p{L}]+/u, ''), (character) => !/[\p{L}'’]/u.test(character));
  if (bare === '' || fixedVerbs.has(bare) || /(?:ed|n't)$/.test(bare)) return core;
  return inflect(core);
}

/** Adds the -s of the third person. */
export function inflect(verb: string): string {
  const irregular = irregularThird.get(verb.toLowerCase());
  if (irregular !== undefined) return irregular;
  if (/(?:s|x|z|ch|sh|o)$/i.test(verb)) return `${verb}es`;
  if (/[^aeiou]y$/i.test(verb)) return `${verb.slice(0, -1)}ies`;
  return `${verb}s`;
}

/** Replaces the letters by another word, and keeps the punctuation around them. */
function replaceCore(word: string, core: string): string {
  const [, before = '', after = ''] = /^([^\p{L}]*)[\p{L}'’]*(.*)$/su.exec(word) ?? [];
  return `${before}${core}${after}`;
}
