import { type MemoryKind, trimEndOf } from '../../../../src/adapter-kit.ts';
import { withDates } from '../text/dates.ts';
import { possessive } from '../text/person.ts';
import { capital, clausesOf, isPleasantry, isQuestion, sentencesOf } from '../text/sentences.ts';
import { topicWords } from '../text/words.ts';
import type { Rule } from './rules.ts';
import { rulesChinese } from './rules-chinese.ts';
import { rulesEnglish } from './rules-english.ts';
import { rulesGerman } from './rules-german.ts';

/** One statement worth remembering, found by a pattern. */
export interface Finding {
  readonly kind: MemoryKind;
  /** A complete sentence, with the name in place of "I". */
  readonly text: string;
  /** Name of the person it is about; empty for none. */
  readonly about: string;
  readonly importance: number;
  /** The words in which it was found. */
  readonly clause: string;
}

export interface Speaker {
  /** As the transcript writes it. */
  readonly label: string;
  /** As they want to be called. */
  readonly name: string;
}

const RULES: readonly Rule[] = [...rulesEnglish, ...rulesGerman, ...rulesChinese];
const MAX_STATEMENT = 240;

/** The facts of one message that will matter later. `saidOn` is its date, which "tomorrow" refers to. */
export function findingsIn(text: string, speaker: Speaker, saidOn: string | null): readonly Finding[] {
  const prose = withoutCode(text).replace(/^>.*/gmu, ' ');
  const sentences = sentencesOf(prose).filter((sentence) => !isPleasantry(sentence));
  const findings = sentences.flatMap((sentence) =>
    isQuestion(sentence) ? [] : clausesOf(sentence).flatMap((clause) => findInClause(clause, speaker, saidOn)),
  );
  return findings.filter(({ text: found }, index) => findings.findIndex((other) => other.text === found) === index);
}

/** Without text between code fences; a fence that is never closed extends to the end. */
function withoutCode(text: string): string {
  return text
    .split('```')
    .filter((_, index) => index % 2 === 0)
    .join(' ');
}

function findInClause(clause: string, speaker: Speaker, saidOn: string | null): readonly Finding[] {
  const name = displayName(speaker.name);
  for (const rule of RULES) {
    const match = rule.pattern.exec(clause);
    if (match === null) continue;
    const said = rule.say(match, { name, own: possessive(name), calling: possessive(displayName(speaker.label)) });
    if (said === null || isVague(said.replaceAll(name, ' '), rule.kind)) continue;
    const sentence = tidy(withDates(said, saidOn), rule.stop);
    // A login is kept as it is.
    const text = sentence.startsWith(speaker.label) ? sentence : capital(sentence);
    if (text.length > MAX_STATEMENT) continue;
    const about = rule.about === 'speaker' ? speaker.label : (match[1] ?? '').trim();
    return [
      { kind: rule.kind, text, about: rule.about === 'nobody' ? '' : about, importance: rule.importance, clause },
    ];
  }
  return [];
}

const STOPS = '.!,;:。！，；';
/** Fillers at the end of a sentence, longest first where one ends with another. */
const FILLERS = ['please', 'bitte', 'right', 'okay', 'ok', 'you know', 'btw', 'thanks', 'though', 'haha', 'lol'];

function tidy(text: string, stop: string): string {
  const bare = trimEndOf(text.replace(/\s+/gu, ' '), STOPS);
  const word = FILLERS.find((filler) => bare.toLowerCase().endsWith(filler)) ?? '';
  return `${trimEndOf(bare.slice(0, bare.length - word.length), ',;:').trim()}${stop}`;
}

/** "Ada loves it" means nothing after the conversation. */
function isVague(said: string, kind: MemoryKind): boolean {
  if (kind === 'identity' || kind === 'instruction') return false;
  const least = kind === 'preference' || kind === 'todo' ? 2 : 1;
  return topicWords(said).length < least || (kind === 'preference' && /\byou(?:r|['’]re)?\b/i.test(said));
}

/** A label without a name reads badly in a sentence. */
export function displayName(label: string): string {
  return isNobody(label) ? 'The user' : label;
}

export function isNobody(label: string): boolean {
  return /^(?:you|user|me|unnamed|somebody|local|)$/i.test(label);
}

/** The name that a note or a summary gives for the person with this label; the last one counts. */
export function notedName(label: string, texts: readonly string[]): string | null {
  const people = [label, displayName(label)];
  return texts.map((text) => nameAfter(people, text)).findLast((name) => name !== undefined) ?? null;
}

const IS_NAMED = /^(?:(?:'s|') name is| heißt|的名字是) ?(\p{L}[\p{L}'’-]*)/u;
const NAME_LENGTH = 100;

function nameAfter(people: readonly string[], text: string): string | undefined {
  for (const who of people.filter((person) => person !== '')) {
    for (let at = text.indexOf(who); at !== -1; at = text.indexOf(who, at + who.length)) {
      const starts = at === 0 || text.charAt(at - 1).trim() === '' || text.charAt(at - 1) === ']';
      const end = at + who.length;
      const name = starts ? IS_NAMED.exec(text.slice(end, end + NAME_LENGTH))?.[1] : undefined;
      if (name !== undefined) return name;
    }
  }
  return undefined;
}

/** The name by which a person introduces themselves in a message, or null. */
export function introducedName(text: string): string | null {
  for (const pattern of INTRODUCTIONS) {
    const name = pattern.exec(text)?.[1];
    if (name !== undefined) return name;
  }
  return null;
}

const INTRODUCTIONS: readonly RegExp[] = [
  /\b[Mm]y name(?:['’]s| is) (\p{Lu}[\p{L}'’-]+)/u,
  /\b(?:[Pp]lease )?[Cc]all me (\p{Lu}[\p{L}'’-]+)/u,
  /^(?:(?:[Hh]i|[Hh]ello|[Hh]ey)[,!.]? )?I(?:['’]m| am) (\p{Lu}[\p{L}'’-]+)(?=[.,!]|$| and\b)/u,
  /\b[Ii]ch hei(?:ß|ss)e (\p{Lu}[\p{L}'’-]+)/u,
  /\b[Mm]ein Name ist (\p{Lu}[\p{L}'’-]+)/u,
  /我(?:叫|的名字(?:是|叫))([\p{L}]{1,12})/u,
];
