import { fold } from '../../search/words/words.ts';
import { isDenial } from '../statements/fingerprint.ts';

/**
 * Attributes with one value at a time, recognised without a model: home, employer, name. Deliberately careful: an
 * unrecognised statement is stored next to the older one.
 */
interface Attribute {
  /** The attribute and its owner in the statement's words: "home of ada". */
  readonly name: string;
  readonly value: string;
}

const VALUE = '([^.,;!?。，]{1,80})';
const RULES: readonly (readonly [string, RegExp])[] = [
  ['home', new RegExp(`\\b(?:lives?|resides?|is living|is based) in ${VALUE}`, 'u')],
  ['home', new RegExp(`\\b(?:moved|relocated) (?:back |away |out |over )?(?:from [^.,;]{2,40} )?to ${VALUE}`, 'u')],
  ['home', new RegExp(`\\b(?:wohnt|lebt) in ${VALUE}`, 'u')],
  ['home', new RegExp(`\\bhabite (?:à|en|au) ${VALUE}`, 'u')],
  ['home', new RegExp(`\\bvive en ${VALUE}`, 'u')],
  ['home', /(?:住在|搬到了?|搬去了?)([\p{sc=Han}]{2,12})/u],
  ['employer', new RegExp(`\\b(?:works? (?:at|for)|is employed (?:at|by)) ${VALUE}`, 'u')],
  ['name', new RegExp(`\\b(?:name is|is called|is named|goes by) ${VALUE}`, 'u')],
  ['age', /\bis (\d{1,3})(?: years old|\s*$|[.!])/u],
  ['marital status', /\bis (single|married|engaged|divorced|widowed)\b/u],
  ['birthday', new RegExp(`\\bbirthday is (?:on )?${VALUE}`, 'u')],
  ['time zone', new RegExp(`\\btime ?zone is ${VALUE}`, 'u')],
  ['e-mail', /\be-?mail(?: address)? is (\S+@\S+)/u],
  ['favourite', new RegExp(`(?<=\\bfavou?rite [\\p{L} ]{2,30})\\b(?:is|are) ${VALUE}`, 'u')],
  ['deadline', new RegExp(`\\bdeadline (?:[\\p{L} ]{2,40} )?is (?:now )?${VALUE}`, 'u')],
];
const PAST =
  /\b(?:used to|formerly|previously|once|in the past|years ago|was|were|had|grew up|as a child)\b|\bin (?:19|20)\d\d\b/u;
const FILLERS = /\b(?:now|currently|recently|just|has|have|is|that|said|says|also|jetzt)\b|现在|目前|已经/gu;
const TRAILING = /\s(?:now|currently|these days|with|since|because|and|but|where|who|in order|for)\b/u;

/** The attribute that the statement sets, or null. Statements about the past set none. */
function attributeOf(text: string): Attribute | null {
  const folded = fold(text).replace(/’/gu, "'");
  if (PAST.test(folded)) return null;
  for (const [kind, pattern] of RULES) {
    const match = pattern.exec(folded);
    if (match?.[1]) return { name: `${kind} of ${ownerOf(folded.slice(0, match.index))}`, value: tidy(match[1]) };
  }
  return null;
}

/**
 * Whether both set the same attribute of the same subject to different values, or one of them denies the other.
 */
export function contradicts(newer: string, older: string): boolean {
  if (isDenial(newer, older)) return true;
  const [now, before] = [attributeOf(newer), attributeOf(older)];
  if (!now || !before || now.name !== before.name) return false;
  return !now.value.includes(before.value) && !before.value.includes(now.value);
}

function ownerOf(prefix: string): string {
  return prefix.replace(FILLERS, ' ').replace(/\s+/gu, ' ').trim();
}

function tidy(text: string): string {
  const end = TRAILING.exec(text)?.index ?? text.length;
  return text
    .slice(0, end)
    .replace(/^(?:the|a|an) /u, '')
    .trim();
}
