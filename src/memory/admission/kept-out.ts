import { type Entry, textOf } from '../../domain/message.ts';
import { memoize } from '../../util/async/memoize.ts';
import { normalForm } from '../../util/text/normal-form.ts';
import { withWordEdges } from '../../util/text/word-edges.ts';
import { sentencesOf } from '../people/about-person.ts';
import { meaningOf } from '../statements/fingerprint.ts';
import { groundingOf } from './grounding.ts';

/** What may come before a request: a greeting, a name, a polite word. */
const OPENERS =
  "(?:(?:@?\\p{L}{1,20}[,:]|please|pls|ok|okay|hey|hi|so|and|but|btw|(?:just )?between (?:us|you and me),?|can you|could you|you can|bitte|und|aber|por favor|s['’]il te pla[iî]t|пожалуйста) ?){0,3}";

/** "Don't remember this": nothing of the message is to be remembered. */
const NOT_THIS = [
  "(?:(?:do not|don['’]?t|never) (?:ever )?(?:remember|save|store|memori[sz]e|record) (?:this|that|it|any of (?:this|that))(?=$|[,.:;!?)]| (?:but|anywhere|please|in your memory))|off the record\\b|this (?:is|stays) off the record\\b)",
  '(?:(?:merk|speicher|notier)e? (?:dir )?(?:das|dies)(?: bitte)? nicht\\b)',
  'ne (?:retiens|retenez|enregistrez?|notez?|gardez?) pas (?:ça|cela|ceci)\\b',
  'no (?:recuerdes|guardes|anotes) (?:esto|eso)\\b',
  'non (?:ricordare|ricordarti|salvare|memorizzare|annotare) (?:questo|ciò|di questo)\\b',
  'não (?:guardes?|lembres?|anotes?|salve|memorize) (?:isto|isso)\\b',
  '(?:onthoud|bewaar) (?:dit|dat)(?: alsjeblieft)? niet\\b',
  'nie (?:zapamiętuj|zapisuj)(?:cie)? tego\\b',
  'не (?:запоминай|сохраняй|записывай)(?:те)?(?: это| этого)?\\b',
];
/** In scripts without spaces. */
const NOT_THIS_UNSPACED = /(?:不要|别|別)(?:记住|記住|记录|記錄|保存)(?:这|這|它)|これは(?:覚え|記録し|保存し)ないで/u;

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
const FORGETS = startOf(FORGET);

/** Only the beginnings of a message and of its sentences are read. */
const READ_CHARACTERS = 2000;
const HEAD_LENGTH = 160;
/** Of a message with such a request; comparing more would hold others up. */
const COMPARED_CHARACTERS = 10_000;

/**
 * Whether only what a person asked not to remember says the statement, or whether the person who said it asked later, in
 * one of the `entries`, to forget it.
 */
export function isKeptOut(statement: string, sources: readonly Entry[], entries: readonly Entry[]): boolean {
  if (isForgottenLater(statement, sources, entries)) return true;
  const open = sources.map(openPartOf);
  if (open.every((entry, at) => entry === sources[at])) return false;
  const said = open.filter(({ parts }) => textOf(parts).trim() !== '');
  return (
    said.length === 0 || groundingOf(statement, { sources: said, subjectName: '', names: [] }).strength === 'absent'
  );
}

function isForgottenLater(statement: string, sources: readonly Entry[], entries: readonly Entry[]): boolean {
  const newest = sources.at(-1)?.seq ?? 0;
  const speakers = new Map(
    sources.flatMap(({ author }) => (author === null ? [] : [[author.id, author.name] as const])),
  );
  const wanted = meaningOf(statement).difference(meaningOf([...speakers.values()].join('\n')));
  if (wanted.size === 0) return false;
  const later = entries.filter(({ seq, author }) => seq > newest && author !== null && speakers.has(author.id));
  return later.map(requestsOf).some(({ forgotten }) => isMostOf(wanted, meaningOf(forgotten)));
}

/** How people speak of something is seldom how a model words it, so a part of the statement is enough. */
const MIN_SHARE = 0.5;

function isMostOf(wanted: ReadonlySet<string>, forgotten: ReadonlySet<string>): boolean {
  return forgotten.size > 0 && forgotten.isSubsetOf(wanted) && forgotten.size >= MIN_SHARE * wanted.size;
}

/** The message without what its author asked not to remember; itself if there is nothing such. */
const openPartOf = memoize((entry: Entry): Entry => {
  const { open } = requestsOf(entry);
  return open === null ? entry : { ...entry, parts: [{ kind: 'text', text: open }] };
}, new WeakMap());

interface Requests {
  /** What else the message says; null if it asks for nothing such. */
  readonly open: string | null;
  /** What is to be forgotten. */
  readonly forgotten: string;
}

const NONE: Requests = { open: null, forgotten: '' };

const requestsOf = memoize(({ role, parts }: Entry): Requests => {
  if (role !== 'user') return NONE;
  const text = textOf(parts);
  const head = text.slice(0, READ_CHARACTERS);
  const sentences = sentencesOf(normalForm(head, 'NFC'));
  const keepsOut = sentences.some((sentence) => KEEPS_OUT.test(sentence.slice(0, HEAD_LENGTH)));
  if (keepsOut || NOT_THIS_UNSPACED.test(head)) return { open: '', forgotten: '' };
  const split = sentences.map(splitAtRequest);
  const forgotten = split.flatMap(([clause]) => clause).join('\n');
  if (forgotten === '') return NONE;
  return {
    open: [...split.map(([, rest]) => rest), text.slice(READ_CHARACTERS, COMPARED_CHARACTERS)].join('\n'),
    forgotten,
  };
}, new WeakMap());

/** What is to be forgotten of a sentence, and the rest. */
function splitAtRequest(sentence: string): readonly [forgotten: readonly string[], rest: string] {
  const [request] = FORGETS.exec(sentence.slice(0, HEAD_LENGTH)) ?? [];
  if (request === undefined) return [[], sentence];
  const comma = sentence.indexOf(',', request.length);
  const end = comma === -1 ? sentence.length : comma;
  return [[sentence.slice(request.length, end)], sentence.slice(end + 1)];
}
