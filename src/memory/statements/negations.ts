import { fold, wordsOf } from '../../search/words/words.ts';
import { withWordEdges } from '../../util/text/word-edges.ts';

/** Words that make the opposite of a statement, in the languages whose stop words are known and some more. */
const WORDS = new Set(
  [
    'not no never none nobody nothing nowhere neither nor without cannot dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt wouldnt hasnt havent hadnt mustnt neednt aint stopped quit',
    'nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne',
    'ne pas jamais rien aucun aucune personne sans',
    'no nunca jamás nada nadie ningún ninguno ninguna tampoco sin',
    'non mai niente nulla nessuno nessuna neanche senza',
    'não nunca nada ninguém nenhum nenhuma tampouco sem',
    'niet geen nooit niemand niets zonder',
    'inte ej aldrig ingen inget inga ingenting utan ikke aldri intet ingenting uden uten',
    'nie nigdy nikt nic żaden żadna żadne bez není nejsou nemá nikdy nikdo nic nije nisu nisam nema neće nikad nikada nitko niko ništa brez nima nikoli',
    'не нет ни нельзя никогда никто ничего нету без ні ніколи ніхто нічого немає няма никога никой нищо',
    'δεν μην όχι ποτέ κανένας κανείς τίποτα χωρίς',
    'değil yok hiç asla nem ne sem soha nincs nincsenek senki semmi nélkül',
    'ei emme ette eivät koskaan kukaan ilman mitte pole nėra niekada nav nekad',
    'nu niciodată nimeni nimic fără',
    'لا لم لن ليس ليست غير بدون אין לא אינו אינה מעולם בלי نه نیست هرگز بدون',
    'नहीं न मत बिना না নয় নেই இல்லை',
    '안 못',
    'không chưa chẳng đừng tidak bukan jangan tak belum tanpa hindi wala huwag',
  ]
    .flatMap((words) => words.split(' '))
    .map(fold),
);
/** The same where words are not separated, or are joined with others. */
const PARTS = /[不没沒未无無别別勿非]|ない|なかっ|ません|않|없|아니|ไม่/gu;
/** Before a word, these make its opposite: "dislikes", "unhappy", "nejí". */
const PREFIXES = ['ne', 'un', 'dis', 'in', 'im', 'non', 'не', 'без'];

/** How often a text negates. */
export function negationsOf(text: string): number {
  const words = wordsOf(text).filter((word) => WORDS.has(word)).length;
  return words + (fold(text).match(PARTS)?.length ?? 0);
}

/** A name may be a negation elsewhere: "Mitte" is a part of Berlin, and "not" in Estonian. */
const NAMES = /(?<=\s)\p{Lu}\p{L}*/gu;

/** "Stopped in Bern" negates nothing, "stopped smoking" does. */
const HALTS = /\b(?:stopped|quit)\b(?! \p{L}+ing\b)/giu;

export function negates(text: string): boolean {
  return negationsOf(text.replace(NAMES, '').replace(HALTS, '')) > 0;
}

/** "Nothing but", "not only", "no more than", "ne … que". */
const LIMITS = withWordEdges(
  /\b(?:nothing|nobody|none|not|no|never) (?:one )?(?:but|only|just|merely|(?:more|less|fewer|other) than|except)\b|n['’]t (?:only|just|merely)\b|\bnicht (?:nur|bloß)\b|\bno s[oó]lo\b|\bnon solo\b|\bnão (?:só|apenas)\b|\bniet alleen\b|не только|\b(?:ne |n['’])\p{L}{1,20} qu(?:e\b|['’])|しか/iu,
);
/** A second negation together with one of these, as in "never without", leaves what is usual. */
const WITHOUT = withWordEdges(/\b(?:without|stopped|quit|ohne|sans|sin|senza|sem|zonder|utan|uden|uten|bez|без)\b/iu);

/** Whether a negation only limits a statement, or is negated itself: "eats nothing but cheese", "never without her dog". */
export function limits(text: string): boolean {
  return LIMITS.test(text) || (WITHOUT.test(text) && negationsOf(text) > 1);
}

/** These only stress that something has ended: "no longer", "not any more", "ne … plus", "nicht mehr". */
const ENDED = new Set(
  'longer anymore any more mehr plus más mais più meer mer больше más już więcej'.split(' ').map(fold),
);

/** "does not like": without the negation, English says "likes". */
const AUXILIARY = /\b(?:do|does|did)(?: not|n['’]?t) (\p{L}+)/giu;

/** The words of a text without those that negate it, to compare it with a text that says the opposite. */
export function affirmed(text: string): string {
  const words = text
    .replace(AUXILIARY, '$1s')
    .replace(PARTS, '')
    .split(/[\s.,;:!?]+/u);
  return words.filter((word) => wordsOf(word).every((one) => !WORDS.has(one) && !ENDED.has(one))).join(' ');
}

/** Whether one of the texts contains the opposite of a word of the other one. */
export function areOpposite(one: string, other: string): boolean {
  const [words, others] = [new Set(wordsOf(one)), new Set(wordsOf(other))];
  const [left, right] = [words.difference(others), others.difference(words)];
  return hasOpposite(left, right) || hasOpposite(right, left);
}

function hasOpposite(words: ReadonlySet<string>, among: ReadonlySet<string>): boolean {
  return [...words].some((word) => PREFIXES.some((prefix) => among.has(`${prefix}${word}`)));
}
