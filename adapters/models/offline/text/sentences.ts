import { trimEndOf, trimEndWhile } from '../../../../src/adapter-kit.ts';

/** Ends of sentences, but not the dots in "e.g." or "3.5". */
const sentenceEnd =
  /(?<=[.!?…]["”')\]]?)(?<!\b(?:e\.g|i\.e|mr|mrs|ms|dr|st|vs|etc|no|z\.B|bzw)\.)\s+(?=\S)|(?<=[。！？；])|\n+/iu;

export function sentencesOf(text: string): readonly string[] {
  return text
    .split(sentenceEnd)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** Clauses with their own subject, so that two facts in one sentence become two statements. */
const clauseEnd =
  /; |,? (?:and|but|und|aber) (?=(?:i|i'm|i’m|i've|my|we|our|ich|mein|meine|wir)\b)|, (?=(?:i|i'm|i’m|my|we|ich|wir)\b)|，(?=我)/iu;

/** After an introduction, the second verb needs no subject of its own: "I'm Ada and live in Turin". */
const sharedSubject =
  /\b((?:my name is|i['’]m|i am) [\p{L}'’-]+(?: [\p{L}'’-]+)? and) (?=(?:live|work|like|love|hate|prefer) )/iu;
const sharedSubjectGerman =
  /\b((?:ich hei(?:ß|ss)e|ich bin|mein name ist) [\p{L}'’-]+(?: [\p{L}'’-]+)? und) (?=(?:wohne|lebe|arbeite|komme|mag|trinke|esse) )/iu;

export function clausesOf(sentence: string): readonly string[] {
  return sentence
    .replace(/\s+/gu, ' ')
    .replace(sharedSubject, '$1 I ')
    .replace(sharedSubjectGerman, '$1 ich ')
    .split(clauseEnd)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');
}

export function isQuestion(sentence: string): boolean {
  if (askingFor.test(sentence)) return false;
  if (/[?？]["”')]?\s*$/.test(sentence)) return true;
  return questionOpening.test(sentence) || /[吗呢]$|什么|哪里|谁$/u.test(sentence);
}

/** A wish in the form of a question. */
const askingFor =
  /\b(?:can|could|will|would) you (?:please )?(?:remind me (?:to|of|that|about)|remember that|note that|keep in mind)\b/i;

const questionOpening =
  /^(?:(?:so|and|but|ok|okay|hey|well|now),?\s+)?(?:what|who|whom|whose|where|when|why|how|which|do you|did (?:i|we|you|he|she|they)|does|is there|are there|can you (?:tell|remember|recall)|could you tell|tell me|remind me (?:what|who|where|when|how|which)|was|wer|wo|wann|warum|wie|welche[rs]?|weißt du)\b(?!\s+(?:a|nice|great|lovely|good)\b)/iu;

/** Greetings, thanks and the like, which nobody needs to read again. */
const pleasantry =
  /^(?:(?:hi|hello|hey|hallo|moin|servus|good (?:morning|afternoon|evening|night)|guten (?:morgen|tag|abend)|thanks?|thank you|thx|danke|bye|goodbye|see you|tschüss|ok|okay|cool|nice|great|lol|haha|yes|no|yep|nope|sure|fine|alright|perfect|awesome|welcome|you're welcome|no problem|how are you|how is it going|what's up|你好|您好|嗨|谢谢|再见|好的)(?:\s+(?:there|all|everyone|everybody|again|so much|very much|a lot|then|for that|today|later|bot|dir|euch|team|folks))*)(?:[\s,]+\p{L}+)?$/iu;

export function isPleasantry(sentence: string): boolean {
  const words = trimEndWhile(sentence.trimStart(), (character) => /[\s\p{P}\p{S}\p{M}]/u.test(character));
  return pleasantry.test(words) || !/[\p{L}\p{N}]/u.test(sentence);
}

/** Cuts at a word, with an ellipsis. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const cut = text.slice(0, longest);
  const space = cut.lastIndexOf(' ');
  return `${trimEndOf((space > longest / 2 ? cut.slice(0, space) : cut).toWellFormed(), ',;:.\uFFFD')}…`;
}

export function capital(text: string): string {
  const [first = ''] = text;
  return `${first.toUpperCase()}${text.slice(first.length)}`;
}
