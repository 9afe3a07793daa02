import type { CompactionCommit } from '../../../src/adapter-kit.ts';
import { filler } from '../compaction/compaction.world.ts';
import type { Mood, Size, Telling } from './steps.world.ts';

/** A message of a person, and what happened to it. */
export interface Told {
  readonly id: string;
  readonly telling: Telling;
  /** The word that opens the text now; edits change it. */
  word: string;
  readonly fact: string | null;
  gone: 'no' | 'edited' | 'removed' | 'forgotten';
}

export const WINDOW = 3000;
export const SUMMARISER_WINDOW = 4000;
export const IDLE_MINUTES = 10;

export const WORDS = /\b(?:m\d{5}m|r\d{5}r|t\d{5}t)\b/gu;
export const FACTS = /\bf\d{5}f\b/gu;
export const STATEMENT = /I keep \w+ beside \w+ and f\d{5}f under \w+\./gu;

/**
 * The test's knowledge of a bot’s life, shared by scripts, actions and oracle: actions record what they did, scripts
 * read what the model should do, and the oracle compares it with the store and with each request.
 */
export interface Story {
  /** The provider counts this many tokens for each estimated one. */
  readonly ratio: number;
  readonly word: ReturnType<typeof wordMaker>;
  readonly told: Told[];
  readonly byWord: Map<string, Told>;
  readonly violations: string[];
  readonly commits: CompactionCommit[];
  /** Each forgotten fact with the serial at which it was forgotten. */
  readonly forgotten: Map<string, number>;
  /** Where the view has begun so far: a reset moves it. */
  readonly contextFroms: Set<number>;
  /** The parts of each entry as the last check saw them. */
  readonly known: Map<number, string>;
  /** Calls of the summariser that hang. */
  readonly waiting: Set<() => void>;
  /** Calls for replies that hang. */
  readonly held: Set<() => void>;
  mood: Mood;
  isHolding: boolean;
  isWatching: boolean;
  /** The word of the message whose trouble has happened already. */
  troubled: string;
  /** A model answered without proposing a memory, so the messages until then may not be remembered. */
  isLossy: boolean;
  turn: { readUpto: number; results: string[]; step: number; serial: number };
  /** Of the last two maintenance runs: the last one read its source before it began. */
  work: { serial: number; before: number };
  serial: number;
  requests: number;
  /** A bot may die after it has stored a failure and before it reports it. */
  lastErrorAtCrash: string | null;
}

export function createStory(ratio: number): Story {
  return {
    ratio,
    word: wordMaker(),
    told: [],
    byWord: new Map(),
    violations: [],
    commits: [],
    forgotten: new Map(),
    contextFroms: new Set([1]),
    known: new Map(),
    waiting: new Set(),
    held: new Set(),
    mood: 'well',
    isHolding: false,
    isWatching: true,
    troubled: '',
    isLossy: false,
    turn: { readUpto: 0, results: [], step: 0, serial: 0 },
    work: { serial: 0, before: 0 },
    serial: 0,
    requests: 0,
    lastErrorAtCrash: null,
  };
}

/** Makes words of one letter and a number: `m` messages, `r` replies, `t` tool results, `f` facts. */
function wordMaker() {
  let count = 0;
  return (letter: 'm' | 'r' | 't' | 'f') => {
    count += 1;
    return `${letter}${String(count).padStart(5, '0')}${letter}`;
  };
}

export function textFor({ word, fact, telling }: Told): string {
  return `${word} ${fact === null ? '' : statementOf(fact)} ${padding(telling.size)}`;
}

export function padding(of: Size): string {
  switch (of) {
    case 'short':
      return 'so it is';
    case 'medium':
      return filler(130);
    case 'cjk':
      return '今天下雨我们在家里喝茶看书，'.repeat(12);
    case 'emoji':
      return '🎉👩‍👩‍👧🙂 '.repeat(25);
    case 'huge':
      return filler(3400);
    default:
      return of satisfies never;
  }
}

const SYLLABLES = ['ba', 'do', 'ki', 'lu', 'me', 'na', 'po', 'ri', 'su', 'te', 'va', 'xo', 'zi', 'go', 'fu', 'hy'];

/** A statement that shares no significant word with any other: to forget one is not to forget its neighbours. */
function statementOf(fact: string): string {
  const number = Number(fact.slice(1, -1));
  const named = (salt: number) =>
    [1, 16, 256, 4096].map((place) => SYLLABLES[Math.floor((number * 4 + salt) / place) % 16]).join('');
  return `I keep ${named(1)} beside ${named(2)} and ${fact} under ${named(3)}.`;
}
