import { isAskingWord } from './question-words.ts';
import { stem } from './stem.ts';
import { isEnglish, tellingWords } from './stop-words.ts';
import { fold, tokensOf } from './words.ts';

/** What a question says about its answer. Computed once, before the search. */
export interface Question {
  /** The stemmed search words, without stop words and names of speakers. */
  readonly terms: readonly string[];
  /** For each term, whether it belongs to the topic; other terms name the kind of answer ("the name of the woman who …"). */
  readonly isTopic: readonly boolean[];
  /** The same words as written, for the full-text index. */
  readonly words: readonly string[];
  /** Adjacent words with at least one term among them, stemmed and joined by a space. */
  readonly pairs: ReadonlySet<string>;
  readonly folded: string;
  /** The question may have its words in other inflections than the answer. English words have stems. */
  readonly inflects: boolean;
  readonly asksWhen: boolean;
  readonly asksNumber: boolean;
  /** About what the bot said ("did you recommend"). */
  readonly asksBot: boolean;
  /** About the asker ("my", "I"). */
  readonly asksSelf: boolean;
  /** About the conversation as a whole: a summary, an order of events. */
  readonly asksOverview: boolean;
  /** Asks for advice, so wishes and preferences stated once are relevant. */
  readonly asksAdvice: boolean;
  readonly date: QuestionDate | null;
}

export interface QuestionDate {
  /** 0 is January. */
  readonly month: number;
  readonly day: number | null;
  readonly year: number | null;
}

const WHEN =
  /\bwhen\b|\bwhat (?:date|day|month|year|time)\b|\bhow long\b|\bhow many (?:days|weeks|months|years)\b|\bdeadline/u;
const NUMBER =
  /\bhow (?:many|much|often)\b|\bwhat (?:is|was) the (?:average|total|number)\b|\bpercent|\bamount\b|\bcost\b|\bprice\b/u;
const BOT =
  /\byou (?:recommended|suggested|advised|told|explained|gave|provided|said)\b|\byour (?:advice|recommendation|suggestion|answer)/u;
const ASKED_BOT = /\b(?:did|do|have|had|would|could) you\b/u;
const SAYING = /\b(?:recommend|suggest|advi[sc]e|tell|told|explain|mention|describe|propose|say)/u;
const SELF = /\b(?:i|my|me|mine|im|ive)\b/u;
const OVERVIEW =
  /\bsummar|\bin order\b|\bthe order\b|\bwalk me through\b|\boverview\b|\bhow (?:has|have|did) my\b|\bprogress|\bdevelop|\bevol/u;
const ADVICE =
  /\bhow (?:should|can|could|do|would) (?:i|we|you)\b|\bcan you (?:help|show|suggest|explain|give)\b|\bcould you\b|\bwhat (?:\w+ )?(?:should|would|can|are some)\b|\bim (?:planning|looking|trying|working|applying|updating)\b|\brecommend|\bsuggest|\bwhich\b/u;
/** "may" is rarely the month. */
const MAY =
  /\b(?:in|on|during|of|early|late|mid|since|until|last|next) may\b|\bmay,? \d|\d(?:st|nd|rd|th)?,? (?:of )?may\b/u;
const MONTHS = 'january february march april may june july august september october november december'
  .split(' ')
  .map((name) => ({
    isNamed: name === 'may' ? MAY : new RegExp(`\\b${name}\\b`, 'u'),
    day: new RegExp(`${name} (\\d{1,2})\\b|\\b(\\d{1,2})(?:st|nd|rd|th)?,? (?:of )?${name}`, 'u'),
  }));
/** Words about asking itself. */
const META = new Set(
  'list order brought different aspect throughout conversation mention item summarize summary comprehensive walk discuss overview consider remember recall'
    .split(' ')
    .map(stem),
);

/** `names` are the folded names of people in the conversation. They are matched as speakers, not as words. */
export function readQuestion(text: string, names: readonly string[] = []): Question {
  const folded = fold(text).replace(/['’ʼ]/gu, '');
  const tokens = tokensOf(text);
  const speakers = new Set(names.flatMap(tokensOf));
  const content = tellingWords(tokens).filter((token) => !META.has(stem(token)));
  const besides = content.filter((token) => !speakers.has(token));
  const kept = besides.length > 0 ? besides : content.length > 0 ? content : tokens;
  const terms = [...new Set(kept.map(stem))];
  const inflects = !isEnglish(tokens);
  const asksOverview = OVERVIEW.test(folded);
  const asked = ASKED_BOT.exec(folded)?.index ?? folded.length;
  const asksBot = BOT.test(folded) || SAYING.test(folded.slice(asked));
  return {
    terms,
    isTopic: topicsAmong(terms, inflects ? new Map(kept.map((word) => [stem(word), word])) : NO_WORDS),
    words: [...new Set(kept)],
    pairs: pairsOf(tokens.map(stem), new Set(terms)),
    folded,
    inflects,
    asksWhen: WHEN.test(folded),
    asksNumber: NUMBER.test(folded),
    asksBot,
    asksSelf: SELF.test(folded),
    asksOverview,
    asksAdvice: ADVICE.test(folded) && !asksBot && !asksOverview,
    date: dateOf(folded),
  };
}

/** Words for kinds of answers, in some of the most spoken languages. */
const ANSWER_KINDS = new Set(
  'name called woman man person people guy lady somebody someone place thing type kind sort number date day month year time hour colour color price way word heißt hieß namen mann frau person leute ort ding art nummer datum tag monat jahr uhr zeit uhrzeit farbe preis wort nom appelle appelait homme femme personne gens endroit lieu chose sorte numéro jour mois année heure couleur prix mot nombre llama llamaba llamado hombre mujer persona gente lugar sitio cosa tipo número fecha día mes año hora color precio palabra имя зовут звали мужчина женщина человек место номер дата день месяц год час цвет цена adı isim kadın adam kişi yer numara tarih gün ay yıl saat renk fiyat'
    .split(' ')
    .map(stem),
);

/** In most languages, words of one or two letters only connect others. */
const BRIEF = /^[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}]{1,2}$/u;

const NO_WORDS: ReadonlyMap<string, string> = new Map();

/**
 * All terms if every one only asks or names a kind of answer. `words` are the terms as written in a language for which
 * the stems mean nothing.
 */
function topicsAmong(terms: readonly string[], words: ReadonlyMap<string, string>): readonly boolean[] {
  const isTopic = terms.map((term) => {
    const word = words.get(term);
    return !ANSWER_KINDS.has(term) && !isAskingWord(word ?? term) && !BRIEF.test(word ?? '');
  });
  return isTopic.includes(true) ? isTopic : terms.map(() => true);
}

function pairsOf(stems: readonly string[], terms: ReadonlySet<string>): ReadonlySet<string> {
  const pairs = new Set<string>();
  stems.forEach((word, index) => {
    const next = stems[index + 1];
    if (next !== undefined && (terms.has(word) || terms.has(next))) pairs.add(`${word} ${next}`);
  });
  return pairs;
}

function dateOf(folded: string): QuestionDate | null {
  const month = MONTHS.findIndex(({ isNamed }) => isNamed.test(folded));
  if (month < 0) return null;
  const match = MONTHS[month]?.day.exec(folded) ?? null;
  const day = match ? Number(match[1] ?? match[2]) : null;
  const year = /\b((?:19|20)\d\d)\b/u.exec(folded)?.[1];
  return { month, day, year: year === undefined ? null : Number(year) };
}
