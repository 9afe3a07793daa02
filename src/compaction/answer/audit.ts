import type { FinishReason } from '../../ports/model.ts';
import { trimEndOf } from '../../util/text/scan.ts';

export interface Audited {
  readonly text: string;
  /** As the model wrote it, if the text got another form since. Default: the text. */
  readonly said?: string;
  readonly finish: FinishReason;
  /** The tokens the summary would take in the view, and their maximum. */
  readonly tokens: number;
  readonly limitTokens: number;
  /** The system prompt of the call, and the nonce that delimits the transcript. */
  readonly prompt: string;
  readonly nonce: string;
}

/** A summary that frees less than this share of its source does not justify changing the cached prefix. */
const MIN_PROGRESS = 0.05;

export function limitFor(sourceTokens: number): number {
  return Math.floor(sourceTokens * (1 - MIN_PROGRESS));
}

/** No summary is shorter than this. */
const MIN_FILLING = 48;

/** The source of a gap is already out of the view, so even a short summary costs nothing. */
export function fillingLimit(sourceTokens: number): number {
  return Math.max(MIN_FILLING, sourceTokens);
}

/** How refusals begin in the most common languages. In other languages, the check for shared words detects them. */
const REFUSAL = new RegExp(
  `^(?:${[
    "i(?:'|’)?m (?:sorry|unable|not able)|i am (?:sorry|unable|not able)|sorry\\b|i (?:cannot|can(?:'|’)?t|won(?:'|’)?t|(?:must|have to) (?:decline|refuse)|(?:could|do|did)(?: not|n(?:'|’)t) (?:feel|have|find|see|summari[sz]e))",
    "i(?: would|(?:'|’)d) rather not|i regret|i(?: am|(?:'|’)m) not comfortable|i apologi[sz]e|(?:my |our )?apologies[,.!;]|as (?:an ai|a (?:large )?language model)\\b|unfortunately,? i",
    '(?:es )?tut mir leid|leider kann ich|(?:das|dies(?:es|en)?|dabei|hier) kann ich|ich (?:kann|darf|werde) (?:das|dir|ihnen|diese|leider|dabei|nicht|hier)|entschuldig',
    'je suis (?:vraiment )?désol|désol|je regrette|je ne (?:peux|suis|puis)|malheureusement,? je|excusez',
    'lo (?:siento|lamento)|lamento|no (?:puedo|me es posible)|lamentablemente|mi (?:di)?spiace|non (?:posso|sono in grado)|purtroppo non',
    'desculp|não (?:posso|consigo)|infelizmente|sinto muito|het spijt me|helaas kan ik|ik kan (?:dit|dat|je|u|hier)|tyvärr|jag kan (?:inte|tyvärr)|beklager|jeg kan (?:ikke|desværre)|desværre',
    'przykro mi|przepraszam|niestety|nie mogę|üzgünüm|maalesef|özür|извин|к сожалению|прости|я не могу|вибач|на жаль|λυπάμαι|δυστυχώς',
    'عذر|آسف|للأسف|لا أستطيع|לצערי|מצטער|क्षमा|माफ|xin lỗi|maaf|tiếc',
    '很?抱歉|对不起|對不起|我(?:无法|無法|不能)|申し訳|すみません|できません|ごめん|죄송|미안',
  ].join('|')})`,
  'iu',
);
const ERROR =
  /^(?:\{\s*"?error\b|error\b|(?:internal )?server error|exception\b|traceback\b|\w*error:|http(?: error)? [45]\d\d|[45]\d\d[ :]|rate limit|too many requests|service unavailable|bad gateway|gateway time-?out|request timed out|upstream\b|insufficient[_ ]quota|invalid api key|unauthorized\b|<!doctype html|<html)/iu;
/** Refusals and errors are short; a long text that begins with such words is a summary of a conversation about them. */
const MAX_EXCUSE = 600;

/** Why the text is not usable as a summary, in words the model can act on. Null if it is usable. */
export function faultOf(audited: Audited): string | null {
  const text = audited.text.trim();
  const said = audited.said?.trim() ?? text;
  if (audited.finish === 'filtered') return 'the answer was withheld by a filter';
  if (audited.finish === 'length') return 'it was cut off at the length limit: write it shorter';
  if (text === '') return 'it was empty';
  if (!/[\p{L}\p{N}]/u.test(text)) return 'it held no words';
  if (isRefusal({ ...audited, text: said })) return 'it was a refusal, not a summary';
  if (said.length <= MAX_EXCUSE && ERROR.test(said)) return 'it was an error message, not a summary';
  if (text.includes(audited.nonce) || isCopy(text, audited.prompt)) return 'it repeated the instructions';
  if (audited.tokens > audited.limitTokens) {
    return `it was too long for its source (${audited.tokens} tokens, at most ${audited.limitTokens}): write it much shorter`;
  }
  return null;
}

const EMPHASIS = /^[\s*_#>]+/u;

/** How the answer ended says more than what is missing in it. */
export function isIncomplete(finish: FinishReason): boolean {
  return finish === 'filtered' || finish === 'declined' || finish === 'length';
}

/** A refusal, in the model's own words or by its provider's filter. */
export function isRefusal({ text, finish }: Pick<Audited, 'text' | 'finish'>): boolean {
  const words = text.replace(EMPHASIS, '');
  return finish === 'filtered' || finish === 'declined' || (words.length <= MAX_EXCUSE && REFUSAL.test(words));
}

/** At least half of the text's eight-word runs occur in the prompt. */
function isCopy(text: string, prompt: string): boolean {
  const runs = runsOf(text);
  if (runs.length === 0) return false;
  const known = new Set(runsOf(prompt));
  return runs.filter((run) => known.has(run)).length * 2 >= runs.length;
}

function runsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(7).map((_, index) => words.slice(index, index + 8).join(' '));
}

const LINK = /https?:\/\/[^\s<>()[\]"'|]+/giu;
const WORD = /[\w./-]+/gu;
const NUMBERED = /\d/u;

/** Removes links that the source does not contain: a summary must not introduce new ones. */
export function withoutForeignLinks(text: string, source: string): string {
  return text.replace(LINK, (link) => (source.includes(trimEndOf(link, '.,;:!?')) ? link : '(link removed)'));
}

/** The share of the source's numbers, links and paths that the summary kept. Logged, but never a reason to reject. */
export function identifiersKept(text: string, source: string): number {
  const identifiers = new Set(identifiersIn(source));
  if (identifiers.size === 0) return 1;
  return [...identifiers].filter((identifier) => text.includes(identifier)).length / identifiers.size;
}

/** Links, and words that contain a digit or at least two parts separated by slashes. */
function identifiersIn(text: string): readonly string[] {
  const links = text.match(LINK) ?? [];
  const words = (text.replace(LINK, ' ').match(WORD) ?? []).map((word) => trimEndOf(word, '.-/'));
  return [...links, ...words.filter((word) => NUMBERED.test(word) || word.indexOf('/') !== word.lastIndexOf('/'))];
}
