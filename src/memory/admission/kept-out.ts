import { type Entry, textOf } from '../../domain/message.ts';
import { memoize } from '../../util/async/memoize.ts';
import { normalForm } from '../../util/text/normal-form.ts';
import { withWordEdges } from '../../util/text/word-edges.ts';
import { sentencesOf } from '../people/about-person.ts';
import { meaningOf } from '../statements/fingerprint.ts';
import { affirmed, negates } from '../statements/negations.ts';
import { groundingOf, ownTexts } from './grounding.ts';

/** What may come before a request: a greeting, a name, a polite word. */
const OPENERS =
  "(?:(?:@?\\p{L}{1,20}[,:]|please|pls|ok|okay|hey|hi|so|and|but|btw|(?:just )?between (?:us|you and me),?|can you|could you|you can|bitte|und|aber|por favor|s['’]il te pla[iî]t|пожалуйста) ?){0,3}";

/** "Don't save this as a PDF" asks for something else. */
const END = '(?=$| ?[,.:;!?)…–—]| -)';
const SAVE =
  "(?:do not|don['’]?t|never) (?:ever )?(?:save|store|memori[sz]e|record) (?:this|that|it|any of (?:this|that))";
const REMEMBER = "(?:do not|don['’]?t|never) (?:ever )?remember";
/** "Don't remember this": nothing of the message is to be remembered. */
const NOT_THIS = [
  `(?:${SAVE}|${REMEMBER} (?:this|any of (?:this|that)))(?:${END}| (?:but|anywhere|please|in your memory)\\b)`,
  `off the record(?:${END}| (?:i|i['’]m|we|my|our|but|please)\\b)|this (?:is|stays) off the record\\b`,
  `(?:merk|speicher|notier)e? (?:dir )?(?:das|dies)(?: bitte)? nicht${END}`,
  `ne (?:retiens|retenez|enregistrez?|notez?|gardez?) pas (?:ça|cela|ceci)${END}`,
  `no (?:recuerdes|guardes|anotes) (?:esto|eso)${END}`,
  `non (?:ricordare|ricordarti|salvare|memorizzare|annotare) (?:questo|ciò|di questo)${END}`,
  `não (?:guardes?|lembres?|anotes?|salve|memorize) (?:isto|isso)${END}`,
  `(?:onthoud|bewaar) (?:dit|dat)(?: alsjeblieft)? niet${END}`,
  `nie (?:zapamiętuj|zapisuj)(?:cie)? tego${END}`,
  `не (?:запоминай|сохраняй|записывай)(?:те)?(?: это| этого)?${END}`,
];
/** As the first words of a message, "Don't remember that" leaves out "I". */
const NOT_THAT = [`${REMEMBER} (?:that|it)(?:${END}| please\\b)`];
/** In scripts without spaces. */
const NOT_THIS_UNSPACED =
  /(?:^|[\n。！？!?，,：:] ?)(?:请|請)?(?:不要|别|別)(?:记住|記住|记录|記錄|保存)(?:这|這|它)[个個些]?(?=$|[\s。！？!?，,：:；…])|(?:^|[\n。！？!?] ?)これは(?:覚え|記録し|保存し)ないで/u;

/** "Forget that I …": this clause. What was said before is only taken back: "Forget my last message, I …". */
const FORGET = [
  '(?:forget|erase) (?:(?:about |the fact )?that (?:i|we|my|our)\\b|(?:about )?(?:my|our)\\b(?! (?:last|previous|earlier|question|message)))',
  '(?:vergiss|vergesst)(?: bitte)?,? (?:dass (?:ich|wir|mein|unser)|(?:meine?n?|unsere?n?)\\b(?! letzte))',
  "oubliez? (?:que (?:je|j['’]|nous|mon|ma)|(?:mon|ma|mes)\\b(?! derni))",
  'olvida que (?:\\p{L}+)\\b|dimentica che\\b|(?:esquece|esqueça) que\\b',
  'vergeet (?:dat (?:ik|we|mijn)|mijn)\\b',
  'забудь(?:те)?,? что (?:я|мы|у меня|мо\\p{L}{1,2})\\b',
];

const startOf = (requests: readonly string[]) =>
  withWordEdges(new RegExp(`^${OPENERS}(?:${requests.join('|')})`, 'iu'));
const KEEPS_OUT = startOf(NOT_THIS);
const KEEPS_OUT_LATER = startOf([...NOT_THIS, ...NOT_THAT]);
const FORGETS = startOf(FORGET);
const CLAUSE_END = /[,;]| but | and (?:remember|note|save) /iu;

/** Only the beginnings of a message and of its sentences are read. */
const READ_CHARACTERS = 2000;
const HEAD_LENGTH = 160;
/** Of a message with such a request; comparing more would hold others up. */
const COMPARED_CHARACTERS = 10_000;
/** Of one message. Nobody lists more, and reading them takes time. */
const MAX_REQUESTS = 12;

interface Heard {
  readonly sources: readonly Entry[];
  /** The messages in which people may ask for it. */
  readonly entries: readonly Entry[];
  /** Everybody who may be quoted. */
  readonly names: readonly string[];
}

/**
 * The sources of a statement without those whose authors asked, then or later, not to remember it. Nobody can ask this
 * for others, and what is left of the bot alone only repeats people.
 */
export function withoutKeptOut(statement: string, { sources, entries, names }: Heard): readonly Entry[] {
  const requestsOf = requestsBeside(names);
  const said = readStatement(statement, sources);
  const asking = entries.filter((entry) => requestsOf(entry).forgotten.some((clause) => isAsked(said, clause)));
  const isForgottenLater = ({ seq, author }: Entry) =>
    author !== null && asking.some((later) => later.seq > seq && later.author?.id === author.id);
  const isOpen = (source: Entry) => {
    const { open, forgotten } = requestsOf(source);
    if (open === null || forgotten.some((clause) => takesBack(said, clause))) return true;
    const rest: Entry = { ...source, parts: [{ kind: 'text', text: open }] };
    return (
      open.trim() !== '' &&
      groundingOf(statement, { sources: [rest], subjectName: '', names: [] }).strength !== 'absent'
    );
  };
  const left = sources.filter((source) => !isForgottenLater(source) && isOpen(source));
  return left.length === sources.length || left.some(({ role }) => role === 'user') ? left : [];
}

/** Of a statement, or of what is to be forgotten. */
interface Said {
  readonly words: ReadonlySet<string>;
  /** The same if a denial is left out. */
  readonly affirmed: ReadonlySet<string>;
  readonly negates: boolean;
}

function readSaid(text: string, names: ReadonlySet<string> = new Set()): Said {
  return {
    words: meaningOf(text).difference(names),
    // "Likes" carries a meaning, and "like" is a stop word.
    affirmed: meaningOf([...meaningOf(affirmed(text)).difference(names)].join(' ')),
    negates: negates(text),
  };
}

function readStatement(statement: string, sources: readonly Entry[]): Said {
  return readSaid(statement, meaningOf(sources.map(({ author }) => author?.name ?? '').join('\n')));
}

/** How people speak of something is seldom how a model words it, so a part of the statement is enough. */
const MIN_SHARE = 0.5;

function isAsked(said: Said, clause: Said): boolean {
  const isPart = clause.words.size > 0 && clause.words.isSubsetOf(said.words);
  return isPart && clause.words.size >= MIN_SHARE * said.words.size && !takesBack(said, clause);
}

/** "Forget that I like jazz" corrects what was said before, and does not hide that it is no longer so. */
function takesBack(said: Said, clause: Said): boolean {
  return said.negates !== clause.negates && said.affirmed.size > 0 && said.affirmed.isSubsetOf(clause.affirmed);
}

interface Requests {
  /** What else the message says; null if it asks for nothing such. */
  readonly open: string | null;
  /** What is to be forgotten. */
  readonly forgotten: readonly Said[];
}

const NONE: Requests = { open: null, forgotten: [] };

/** What messages ask for in their authors' own words, computed once for each list of names. */
const requestsBeside = memoize((names: readonly string[]) => {
  const ownTextOf = ownTexts(names);
  return memoize((entry: Entry): Requests => {
    if (entry.role !== 'user') return NONE;
    const text = textOf(entry.parts);
    const head = normalForm(text.slice(0, READ_CHARACTERS), 'NFC');
    const own = ownTextOf({ ...entry, parts: [{ kind: 'text', text: head }] });
    if (keepsOut(own)) return { open: '', forgotten: [] };
    if (!sentencesOf(own).some((sentence) => FORGETS.test(sentence.slice(0, HEAD_LENGTH)))) return NONE;
    const split = sentencesOf(head).map(splitAtRequest);
    return {
      open: [...split.map(([, rest]) => rest), text.slice(READ_CHARACTERS, COMPARED_CHARACTERS)].join('\n'),
      forgotten: split
        .flatMap(([clauses]) => clauses)
        .slice(0, MAX_REQUESTS)
        .map((clause) => readSaid(clause)),
    };
  }, new WeakMap());
}, new WeakMap());

function keepsOut(own: string): boolean {
  const isRequest = (sentence: string, at: number) =>
    (at === 0 ? KEEPS_OUT : KEEPS_OUT_LATER).test(sentence.slice(0, HEAD_LENGTH));
  return NOT_THIS_UNSPACED.test(own) || sentencesOf(own).some(isRequest);
}

/** What is to be forgotten of a sentence, and the rest. */
function splitAtRequest(sentence: string): readonly [forgotten: readonly string[], rest: string] {
  const [request] = FORGETS.exec(sentence.slice(0, HEAD_LENGTH)) ?? [];
  if (request === undefined) return [[], sentence];
  const said = sentence.slice(request.length);
  const end = CLAUSE_END.exec(said) ?? { 0: '', index: said.length };
  return [[said.slice(0, end.index)], said.slice(end.index + end[0].length)];
}
