import { type Finding, findingsIn } from '../findings/findings.ts';
import { countText } from '../text/count.ts';
import { withDates } from '../text/dates.ts';
import { speaksOfSelf, toThirdPerson } from '../text/person.ts';
import { capital, clausesOf, isPleasantry, isQuestion, sentencesOf, shorten } from '../text/sentences.ts';
import { overlap, topicWords } from '../text/words.ts';
import type { Line } from './transcript.ts';

/** A candidate sentence for the summary, with its score. */
interface Candidate {
  readonly text: string;
  readonly byPerson: boolean;
  readonly score: number;
  readonly order: number;
}

/** How people in the transcript want to be called, by their labels. */
export type Names = ReadonlyMap<string, string>;

export interface SummaryOptions {
  readonly names: Names;
  /** What earlier context already says, so it need not be repeated. */
  readonly known: string;
  /** Share of the source's tokens. */
  readonly share: number;
}

const KIND_SCORES: Readonly<Record<Finding['kind'], number>> = {
  identity: 6,
  instruction: 6,
  decision: 6,
  todo: 5,
  fact: 5,
  preference: 5,
  event: 5,
  observation: 3,
};
const MAX_SENTENCE = 200;
const MIN_TOKENS = 12;
/** Each is compared with those already selected. */
const MAX_COMPARED = 200;

/** The important sentences, in order and in the third person. Always clearly shorter than the source. */
export function summarise(lines: readonly Line[], options: SummaryOptions): string {
  const source = lines.map((line) => line.text).join('\n');
  const budget = Math.max(MIN_TOKENS, Math.floor(countText(source) * options.share));
  const candidates = lines.flatMap((line, index) => candidatesOf(line, index, options));
  const chosen = choose(candidates, budget, options.known);
  if (chosen.some(({ byPerson }) => byPerson)) return textOf(chosen);
  // All that people said is known, or too long: a summary that leaves them out would not be about the source.
  return headline(candidates, budget) ?? smallTalk(lines, options.names);
}

/** The best sentence of a person, as far as there is room for it. */
function headline(candidates: readonly Candidate[], budget: number): string | null {
  const [best] = candidates
    .filter(({ byPerson, score }) => byPerson && score > 0)
    .toSorted((a, b) => b.score - a.score);
  return best === undefined ? null : shortenTo(best.text, budget);
}

function shortenTo(text: string, tokens: number): string {
  return shorten(text, Math.floor(text.length * Math.min(1, tokens / countText(text))));
}

function textOf(chosen: readonly Candidate[]): string {
  return chosen.map(({ text }) => text).join(' ');
}

/** The best ones that fit, without repetitions. */
function choose(candidates: readonly Candidate[], budget: number, known: string): readonly Candidate[] {
  const kept: Candidate[] = [];
  let left = budget;
  const best = candidates.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score || b.order - a.order);
  // Of repeated sentences, the newest one counts.
  const different = [
    ...new Map(best.toReversed().map((candidate) => [candidate.text, candidate])).values(),
  ].toReversed();
  for (const candidate of different.slice(0, MAX_COMPARED)) {
    const tokens = countText(candidate.text);
    const isSaid =
      kept.some((other) => overlap(candidate.text, other.text) >= 0.8) || overlap(candidate.text, known) >= 0.9;
    if (isSaid || tokens > left) continue;
    kept.push(candidate);
    left -= tokens;
  }
  return kept.toSorted((a, b) => a.order - b.order);
}

function candidatesOf(line: Line, index: number, { names }: SummaryOptions): readonly Candidate[] {
  const name = names.get(line.author) ?? line.author;
  const findings = line.byPerson ? findingsIn(line.text, { label: line.author, name }, line.saidOn) : [];
  const sentences = sentencesOf(line.text).filter((sentence) => !isPleasantry(sentence));
  const others = sentences
    .flatMap((sentence) => (isQuestion(sentence) ? [sentence] : clausesOf(sentence)))
    .filter((clause) => !findings.some((finding) => finding.clause === clause));
  return [
    ...findings.map((finding, place) => ({
      text: sayFinding(finding, name),
      byPerson: line.byPerson,
      score: KIND_SCORES[finding.kind] + finding.importance,
      order: index + place / 100,
    })),
    ...others.map((clause, place) => ({
      text: retell(clause, { ...line, author: name }),
      byPerson: line.byPerson,
      score: worthOf(clause, line),
      order: index + (50 + place) / 100,
    })),
  ];
}

function sayFinding({ kind, text }: Finding, name: string): string {
  return kind === 'instruction' ? `${name} asked the bot: ${text}` : text;
}

/** A clause quoting somebody else. */
function retell(clause: string, { author, saidOn, byPerson }: Line): string {
  const text = shorten(withDates(clause, saidOn), MAX_SENTENCE).replace(/\s+/g, ' ');
  const closed = /[.!?。！？…]["”')]?$/u.test(text) ? text : `${text}.`;
  if (!byPerson) return `${/^tool/.test(author) ? 'A tool' : 'The bot'} said: ${closed}`;
  if (isQuestion(clause)) return `${author} asked: ${closed}`;
  return speaksOfSelf(clause) && /^[\p{ASCII}’]+$/u.test(clause)
    ? capital(toThirdPerson(closed, author))
    : `${author}: ${closed}`;
}

/** The score of a sentence that matches no pattern: names and numbers raise it, the bot's own words hardly count. */
function worthOf(clause: string, { byPerson, author }: Line): number {
  const words = topicWords(clause).length;
  if (words === 0) return 0;
  const solid = (clause.match(/\d[\d.,:]*|https?:\S+|(?<=\S\s)\p{Lu}\p{L}+/gu) ?? []).length;
  const worth = Math.min(2, words / 4) + Math.min(2, solid);
  if (byPerson) return isQuestion(clause) ? worth * 0.6 : worth;
  return /^tool/.test(author) ? worth * 0.5 : worth * 0.25;
}

function smallTalk(lines: readonly Line[], names: Names): string {
  const people = [...new Set(lines.filter((line) => line.byPerson).map(({ author }) => names.get(author) ?? author))];
  return people.length === 0 ? 'Nothing of note was said.' : `Small talk with ${people.join(', ')}.`;
}

/** Merges several summaries by the same selection of sentences, without changing the person again. */
export function condense(texts: readonly string[], share: number): string {
  const source = texts.join('\n');
  const budget = Math.max(MIN_TOKENS, Math.floor(countText(source) * share));
  // Scores each different sentence once.
  const newest = new Map(texts.flatMap(sentencesOf).map((text, order) => [text, order]));
  const candidates = [...newest].map(([text, order]) => ({
    text,
    order,
    byPerson: true,
    score: worthInSummary(text),
  }));
  const chosen = choose(candidates, budget, '');
  return chosen.length === 0 ? shorten(source.replace(/\s+/g, ' '), budget * 3) : textOf(chosen);
}

function worthInSummary(sentence: string): number {
  if (!/\p{L}/u.test(sentence)) return 0;
  if (/^(?:Small talk|Nothing of note)/.test(sentence)) return 0;
  const found = findingsIn(sentence, { label: '', name: '' }, null)[0];
  if (found !== undefined) return KIND_SCORES[found.kind];
  const solid = (sentence.match(/\d[\d.,:]*|(?<=\S\s)\p{Lu}\p{L}+/gu) ?? []).length;
  const isKept =
    /\b(?:name is|prefers?|likes?|loves?|hates?|does not|cannot stand|allergic|lives in|moved to|works|birthday|decided|agreed|chosen|settled|needs to|wants to|will|reminded|asked the bot|favourite|called|deadline)\b|喜欢|名字|住在|决定|提醒|讨厌/u.test(
      sentence,
    );
  const isAside = /^(?:The bot|A tool) said|\basked: /.test(sentence);
  return (isKept ? 4 : 1) + Math.min(1.5, solid * 0.5) - (isAside ? 1 : 0);
}
