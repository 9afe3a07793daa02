import { namesDate } from '../text/dates.ts';
import { isPleasantry, isQuestion } from '../text/sentences.ts';
import { isWeak, overlap, relatedTo, topicWords } from '../text/words.ts';
import type { Statement, View } from './view.ts';

export interface Match {
  readonly statement: Statement;
  readonly score: number;
}

const MIN_SCORE = 1;
/** Includes the runner-up if it is nearly as good. */
const NEARLY_AS_GOOD = 0.8;
const MAX_MATCHES = 3;

/** What the view says about a question, best first; empty if it says nothing. */
export function findAnswers(question: string, view: Pick<View, 'statements' | 'asker' | 'name'>): readonly Match[] {
  const wanted = wantedBy(plainQuestion(question), view);
  if (wanted.words.size === 0 && wanted.related.size === 0) return [];
  const weigh = weightsOf(view.statements);
  const ranked = view.statements
    .map((statement) => ({ statement, score: scoreOf(statement, wanted, weigh) }))
    .filter(({ score }) => score >= MIN_SCORE)
    .toSorted((a, b) => b.score - a.score || b.statement.order - a.statement.order);
  const best = ranked[0]?.score ?? 0;
  return withoutEchoes(ranked.filter(({ score }) => score >= best * NEARLY_AS_GOOD)).slice(0, MAX_MATCHES);
}

/** The question without the addressee, and idioms replaced by words that an answer may contain. */
function plainQuestion(question: string): string {
  return question
    .replace(/^\s*(?:hey |hi |ok |okay )?@?[\p{L}\d]+[,:]\s+(?=\p{L})/iu, '')
    .replace(/\b(?:do|does|did) (\S+) do for a living\b/i, 'is the job of $1')
    .replace(/\bfor a living\b/i, 'as a job')
    .replace(/\bfree of\b/i, 'without');
}

interface Wanted {
  readonly words: ReadonlySet<string>;
  readonly related: ReadonlyMap<string, number>;
  /** Names of the person the question is about: the asker's for "I", others as written. */
  readonly people: readonly string[];
  readonly asker: string;
  readonly isAboutAsker: boolean;
  /** Asks for dislikes, or things to avoid. */
  readonly isNegative: boolean;
  readonly shape: 'date' | 'number' | 'person' | 'decision' | null;
}

function wantedBy(question: string, { asker, name, statements }: Pick<View, 'statements' | 'asker' | 'name'>): Wanted {
  const isAboutAsker = /\b(?:I|me|my|mine|ich|mein\w*|mir|mich)\b|我/iu.test(question);
  const authors = [...new Set(statements.map(({ author }) => author).filter((author) => author !== ''))];
  const named = authors.filter((author) => question.toLowerCase().includes(author.toLowerCase()));
  const people = [...named, ...(isAboutAsker ? [asker, name] : [])].filter((person) => person !== '');
  const nameWords = new Set(people.flatMap(topicWords));
  const topics = topicWords(question);
  const others = topics.filter((word) => !nameWords.has(word));
  // "Who is Grace?" asks only about the name.
  const words = new Set(others.length === 0 && named.length > 0 ? topics : others);
  const related = new Map([...relatedTo(question)].filter(([word]) => !words.has(word)));
  return {
    words,
    related,
    people,
    asker,
    isAboutAsker,
    isNegative: negative.test(question.replace(/not forget/i, '')),
    shape: shapeOf(question),
  };
}

function shapeOf(question: string): Wanted['shape'] {
  if (/\b(?:when|what (?:time|date|day)|deadline|wann)\b|什么时候|几点/i.test(question)) return 'date';
  if (/\b(?:how (?:many|much|old|long)|what number|wie ?viele?)\b|多少/i.test(question)) return 'number';
  if (/\b(?:who|whom|whose|wer|wem)\b|谁/i.test(question)) return 'person';
  return /\b(?:decid|decision|agree|entschied|beschlossen)|决定/i.test(question) ? 'decision' : null;
}

/** Rare words count more than common ones. */
function weightsOf(statements: readonly Statement[]): (word: string) => number {
  const counts = new Map<string, number>();
  for (const { text } of statements) {
    for (const word of new Set(topicWords(text))) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return (word) => 1 + 1 / (counts.get(word) ?? 1);
}

const SOURCE_WORTH: Readonly<Record<Statement['source'], number>> = {
  memory: 0.25,
  message: 0.2,
  summary: 0.1,
  instruction: 0.1,
  tool: 0,
  own: -1.5,
};

function scoreOf(statement: Statement, wanted: Wanted, weigh: (word: string) => number): number {
  const { text, source } = statement;
  if (isOpenQuestion(text) || /\basked: /.test(text) || isPleasantry(text)) return 0;
  const found = new Set(topicWords(text));
  const direct = [...wanted.words].filter((word) => found.has(word));
  const near = [...wanted.related].filter(([word]) => found.has(word)).map(([, worth]) => worth);
  const decided = wanted.shape === 'decision' && DECISION.test(text);
  const topical =
    sum(direct.map((word) => (isWeak(word) ? 0.6 : weigh(word)))) + Math.min(1.6, sum(near)) + (decided ? 1.5 : 0);
  // A preference alone does not answer a question that also names a thing.
  const isPointed = [...wanted.words].some((word) => !isWeak(word)) || [...wanted.related.values()].includes(1);
  const hits = direct.some((word) => !isWeak(word)) || near.includes(1) || decided;
  if (topical === 0 || (isPointed && !hits)) return 0;
  // Of several words asked for, a single one is weak evidence.
  const asked = Math.max(1, wanted.words.size);
  const covered = 0.6 + (0.4 * Math.min(asked, direct.length + near.length)) / asked;
  return (
    topical * covered +
    personScore(statement, wanted) +
    shapeScore(text, wanted) +
    polarity(text, wanted) +
    SOURCE_WORTH[source]
  );
}

/** "We meet on Friday, is that right?" still states something. */
function isOpenQuestion(text: string): boolean {
  return isQuestion(text.replace(/,\s*(?:is|was|are|does|do|did|right|isn['’]t|ok|okay|nicht|oder)\b[^,?]*\?$/iu, '.'));
}

const DECISION = /\b(?:decided|agreed|chosen|settled|decision|go with|beschlossen|entschieden)\b|决定/i;

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Somebody else's preference does not answer what I like. */
function personScore({ text, author, source }: Statement, { people, isAboutAsker, asker }: Wanted): number {
  if (people.length === 0) return 0;
  if (people.includes(author) || people.some((person) => text.includes(person))) return 0.6;
  return source === 'message' && isAboutAsker && author !== asker ? -1 : -0.3;
}

function shapeScore(text: string, { shape }: Wanted): number {
  if (shape === 'date') return namesDate(text) || /\d/.test(text) ? 0.5 : -0.3;
  if (shape === 'number') return /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\b/i.test(text) ? 0.5 : -0.3;
  return 0;
}

const negative =
  /\b(?:not|n['’]t|never|hates?|dislikes?|avoid|allergic|allergy|without|cannot|nicht|kein\w*|hasse)\b|n['’]t\b|[不讨]/i;
const taste =
  /\b(?:likes?|loves?|prefers?|enjoys?|eats?|drinks?|favou?rite|hates?|dislikes?|allergic|stand|mag|trinkt?|isst)\b|喜欢|讨厌|爱/i;

/** What somebody likes does not answer what they dislike. */
function polarity(text: string, { isNegative }: Wanted): number {
  if (isNegative) return negative.test(text) ? 0.5 : -1.2;
  return taste.test(text) && negative.test(text) ? -0.7 : 0;
}

/** Keeps the better source of repeated statements. */
function withoutEchoes(matches: readonly Match[]): readonly Match[] {
  return matches.filter(
    ({ statement }, index) =>
      !matches.slice(0, index).some((other) => overlap(statement.text, other.statement.text) >= 0.7),
  );
}
