import { fold } from './words.ts';

/**
 * Whether a message asks about something said earlier, judged by its form alone. Only such messages cause a search for
 * passages. Most messages state something or continue the current topic.
 */

/** No more than this of a message is read. */
const READ_CHARACTERS = 2000;
/** Maximum words of a message that opens like a question, and of one that only ends like one. */
const MAX_OPENED_WORDS = 60;
const MAX_CLOSED_WORDS = 24;
/** Share of the words that the question itself must have. */
const MIN_SHARE = 0.6;

const QUESTION_MARKS = /[?？؟⸮՞]/u;
/** Greek writes question marks as semicolons. */
const GREEK = /\p{sc=Greek}/u;
const SENTENCE_END = /[.!?。．！？؟।\n]/gu;
const ASCII = /^[\t\n\r -~]*$/;

/** Words before a question that do not change it. */
const GREETINGS = wordSet(
  'hey hi hello so and but btw also please pls hallo und aber also bitte salut bonjour et mais hola y pero oye ciao e ma oi привет а и но скажи',
);
/** Words that answer the previous message; a following question is about the same. */
const REACTIONS = wordSet(
  'hm hmm hmmm ok okay sure thanks thank thx great cool nice wow yeah yes yep no nope oh ah right alright danke ja nein gut genau merci oui non gracias sí vale bueno claro grazie sì obrigado obrigada sim não спасибо да нет хорошо понятно 嗯 好的 谢谢 はい ありがとう なるほど 네 감사합니다 그래',
);
/** Words that open a question or a request to look back, in some of the most spoken languages. */
const OPENERS = wordSet(
  [
    'what whats when whens where wheres who whos whom whose which why how hows did do does is are was were am have has had can could will would should may might in on at for to about with from considering based given',
    'tell remind list summarize summarise recap recall show give name describe explain remember',
    'was wann wo woher wohin wer wen wem wessen welche welcher welches welchen welchem warum wieso weshalb wie wieviel hat hatte haben hast habe ist sind war waren kann kannst könntest erinnerst weißt sag nenne',
    'que quoi quand où qui quel quelle quels quelles pourquoi comment combien est as avez ai avons peux pouvez rappelle dis',
    'qué cuándo cuando dónde donde quién quien quiénes cuál cuáles cómo como cuánto cuánta cuántos cuántas recuerdas dime',
    'o quê quando onde quem qual quais quanto quantos lembra cosa che dove chi quale quali perché ricordi dimmi',
    'wat wanneer waar wie welke waarom hoe hoeveel heb heeft co kiedy gdzie kto który która które dlaczego jak ile czy',
    'ne nedir zaman nerede nereye kim kime hangi neden niçin nasıl kaç hatırlıyor',
    'что когда где куда кто кого кому какой какая какое какие каком почему зачем как сколько чей помнишь напомни',
    'що коли де хто який яка яке які чому скільки ما ماذا متى أين من لماذا كيف كم هل أي क्या कब कहाँ कौन क्यों कैसे कितना कितने किस',
  ].join(' '),
);
/** Question words of scripts without spaces, which occur anywhere in a sentence. */
const UNSPACED_QUESTION =
  /谁|誰|什么|什麼|何时|何時|哪|为什么|為什麼|怎么|怎麼|多少|几|幾|吗|嗎|記得|记得|上次|なに|何|いつ|どこ|だれ|なぜ|どう|どの|ですか|ますか|ましたか|でしたか|무엇|뭐|뭘|언제|어디|누구|누가|왜|어떻게|얼마|몇|어느|기억/u;
/** Explicitly asks about the past. */
const LOOKING_BACK =
  /\b(?:remember|remind me|recall|earlier|last time|previously|erinner|früher|neulich|letztes mal|souvien|rappel|dernière fois|recuerda|la última vez|lembra|ricord)/u;

export function asksOfThePast(text: string): boolean {
  const read = fold(text.slice(0, READ_CHARACTERS)).trim();
  const folded = GREEK.test(read) ? read.replaceAll(';', '?') : read;
  const [opening = '', ...others] = sentencesOf(folded).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
  const words = withoutGreetings(wordsIn(opening));
  const [first = ''] = words;
  if (words.length === 0 || REACTIONS.has(first)) return false;
  const besides = others
    .filter((sentence) => !QUESTION_MARKS.test(sentence))
    .map((sentence) => wordsIn(sentence).length);
  const told = besides.reduce((sum, count) => sum + count, 0);
  const isMostlyAsking = words.length >= MIN_SHARE * (words.length + told);
  if (!isMostlyAsking) return false;
  if (isOpened(first, opening)) return words.length <= MAX_OPENED_WORDS;
  return QUESTION_MARKS.test(opening) && words.length <= MAX_CLOSED_WORDS;
}

function isOpened(first: string, sentence: string): boolean {
  return OPENERS.has(first) || UNSPACED_QUESTION.test(sentence) || LOOKING_BACK.test(sentence);
}

/** Split after each sentence mark followed by a space; marks of unspaced scripts need no space. */
function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const { 0: mark, index: at } of text.matchAll(SENTENCE_END)) {
    const next = text.charAt(at + 1);
    if (mark.charCodeAt(0) < 0x80 && mark !== '\n' && next !== '' && !/\s/u.test(next)) continue;
    sentences.push(text.slice(start, at + 1));
    start = at + 1;
  }
  return [...sentences, text.slice(start)];
}

/** Greetings and addressed names ("Ada, when …") say nothing about the question. */
function withoutGreetings(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !GREETINGS.has(word) && !word.startsWith('@'));
  return start < 0 ? [] : words.slice(start);
}

/** Most text is ASCII, which the short expression reads much faster. */
function wordsIn(sentence: string): readonly string[] {
  if (ASCII.test(sentence)) return sentence.replaceAll("'", '').match(/[\w@-]+/g) ?? [];
  return sentence
    .replace(/['’ʼ]/gu, '')
    .split(/[^\p{L}\p{N}\p{M}@_-]+/u)
    .filter((word) => word !== '');
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').map(fold));
}
