/** Words that tell nothing about the topic of a text. For English also contractions without apostrophe. */
const ENGLISH =
  wordsIn(`a about after again all also am an and any are arent as at be because been before being between both but by can cant
cannot could couldnt did didnt do does doesnt doing dont during each either few for from further get gets getting give
given go goes going gonna got had has hasnt have havent having he hed hell her here hers herself hes him himself his
how i id if ill im in into is isnt it itd itll its itself ive just kind know let lets like likely made make makes many
may me might more most much must my myself no nor not now of off oh ok okay on one ones only or other our ours out over
own please quite really s same say says shall she shed shell shes should shouldnt so some something such sure take tell
than thank thanks that thats the their theirs them themselves then there these they theyd theyll theyre theyve thing
things think this those through to too under until up upon us use used using very was wasnt we wed well were werent
weve what whats when where which while who whom whose why will with wont would wouldnt yeah yes yet you youd youll your
youre yours yourself youve`);
const OTHERS: readonly ReadonlySet<string>[] = [
  // German
  `der die das den dem des ein eine einen einem einer und oder aber ich du er sie es wir ihr ist sind war hat haben mit von
zu auf für an im nicht auch als wie was wo wer wann warum welche welcher welches mein meine dein deine sein seine ihre bei
nach aus um am zum zur noch nur so dass wird werden kann`,
  // French
  `le la les l un une des d du de et ou est sont je j tu il elle nous vous que qui qu c ce cette ces m t s n ne pas se sur
dans pour par avec où quand comment quel quelle mon ma mes ton ta tes son sa ses leur au aux en y à été`,
  // Spanish
  `el la los las un una y o en con por para es son yo lo su sus de del que qué quién dónde cuándo cómo cuál mi mis tu tus
se al no me le les este esta fue`,
].map(wordsIn);
/** Stop words that mean something in English: one of them alone does not identify another language. */
const AMBIGUOUS = wordsIn(
  'am con des die en hat la las les ma man me mes mi no o par pour sa se so son sur ta ton war was y',
);
/** Enough to identify a language, however long the text is. */
const MAX_LOOKED_AT = 200;

/**
 * The words without the stop words of the apparent language: "war" is meaningful in English, but a stop word in German.
 * English unless the words suggest another language. All words if every one is a stop word.
 */
export function tellingWords(words: readonly string[]): readonly string[] {
  const stops = stopWordsOf(words.slice(0, MAX_LOOKED_AT));
  const telling = words.filter((word) => !stops.has(word));
  return telling.length > 0 ? telling : words;
}

function stopWordsOf(words: readonly string[]): ReadonlySet<string> {
  const distinct = new Set(words);
  let best = { stops: ENGLISH, hits: hitsOf(distinct, ENGLISH).hits };
  for (const stops of OTHERS) {
    const { hits, isSure } = hitsOf(distinct, stops);
    if (isSure && hits > best.hits) best = { stops, hits };
  }
  return best.stops;
}

/** A language is identified by two of its stop words, or by one that means nothing in English. */
function hitsOf(words: ReadonlySet<string>, stops: ReadonlySet<string>) {
  let hits = 0;
  let isSure = false;
  for (const word of words) {
    if (!stops.has(word)) continue;
    hits += 1;
    isSure ||= hits > 1 || !AMBIGUOUS.has(word);
  }
  return { hits, isSure };
}

function wordsIn(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/u));
}

/** Whether the folded word is a stop word in any of the languages. */
export function isStopWord(word: string): boolean {
  return ENGLISH.has(word) || OTHERS.some((stops) => stops.has(word));
}
