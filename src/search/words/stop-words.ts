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
  // Italian
  `il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai alle da dal dalla in nel nella con su
sul sulla per tra fra e ed o ma che chi non mi ti si ci è sono ha ho hanno hai mio mia miei mie tuo tua suo sua nostro
nostra nostri questo questa come quando dove qual quale quali cosa quanto quanti era`,
  // Portuguese
  `o a os as um uma de do da dos das em no na nos nas por pelo pela para com e ou mas que quem não me te se é são foi era
está eu ele ela nós meu minha meus minhas seu sua nosso nossa este esta isso como quando onde qual quais quanto até ao à`,
  // Dutch
  `de het een en of maar ik je jij u hij zij ze we wij is zijn was waren heb hebt heeft had met van voor op aan in uit bij
naar te om niet ook als dat die dit deze mijn jouw ons onze wat wie waar wanneer hoe welke welk er`,
  // Swedish, Danish and Norwegian
  `och i att det den en ett som på är var av för med till har hade om inte jag du han hon vi ni de min mitt mina din vår
våra vad vem när hur vilken vilket vilka er og ikke jeg hvor hva hvad`,
  // Polish
  `i w we z ze na do od o u po za przez dla się nie to ta ten te tego tej jest są był była było by mam ma mamy mój moja moje
mojej mi mnie on ona nasz nasza nasze co kto gdzie kiedy jak jaki jaka jakie który która które której czy że a ale`,
  // Czech
  `a i v ve z ze na do od o u po za pro s se si ne to ta ten je jsou byl byla bylo jsem mám má máme můj moje mé mi on ona
náš naše co kdo kde kdy jak jaký jaká jaké který která které že ale`,
  // Hungarian
  `a az egy és vagy de hogy nem is van volt vannak én te ő mi ti ők meg ki mit hol mikor milyen melyik hogyan miért`,
  // Finnish
  `ja tai mutta on ovat oli olivat ei en minä sinä hän me te he mikä mitä minkä missä milloin kuka kuinka se tämä että kun`,
  // Turkish
  `ve veya ama bir bu şu o ben sen biz siz ne nerede kim mi mı mu mü de da için ile gibi var yok hangi nasıl`,
  // Russian
  `и в во на с со к ко у о об от до из за по для не ни что это этот эта я ты он она мы вы они мой моя моё мои моей твой наш
наша наше наши мне меня был была было были есть как где когда кто какой какая каком какого`,
  // Ukrainian
  `і й в у на з із до від о за по для не що це цей ця я ти він вона ми ви вони мій моя моє мої моєї наш наша наше мені був
була було були є як де коли хто який яка якій якого`,
  // Greek
  `ο η το οι τα του της των τον την ένα μια και ή σε στο στη στην στον στα με για από να θα δεν είναι ήταν έχω έχει έχουν
έχουμε μου σου μας τι ποιος ποια ποιο πού πότε πώς που`,
  // Hindi
  `का की के को में से पर और या है हैं था थी थे मैं मेरा मेरी मेरे हम हमारा हमारी हमारे आप यह वह ने कि क्या कब कहाँ कौन किस किन मुझे हो`,
].map(wordsIn);
/** Stop words that mean something in English: one of them alone does not identify another language. */
const AMBIGUOUS = wordsIn(
  `a also all am as ben by come con den des die do en er for had has hat he her his i in is la las les ma man me meg mes mi
min ni no of on or par per pour sa sen se so son sur ta te ten to ton van var war was we will y`,
);
const SURELY_ENGLISH = OTHERS.reduce((sure, words) => sure.difference(words), ENGLISH.difference(AMBIGUOUS));
/** Enough to identify a language, however long the text is. */
const MAX_LOOKED_AT = 200;

const LANGUAGES = [ENGLISH, ...OTHERS];
/** This many of the others come first. */
const GERMANIC_AND_ROMANCE = 7;
/** The indexes of the languages that have the word. */
const LANGUAGES_OF = new Map<string, number[]>();
for (const [language, words] of LANGUAGES.entries()) {
  for (const word of words) {
    const known = LANGUAGES_OF.get(word);
    if (known === undefined) LANGUAGES_OF.set(word, [language]);
    else known.push(language);
  }
}

/**
 * The words without the stop words of the apparent language: "war" is meaningful in English, but a stop word in German.
 * English unless the words suggest another language. All words if every one is a stop word.
 */
export function tellingWords(words: readonly string[]): readonly string[] {
  const stops = stopWordsOf(words.slice(0, MAX_LOOKED_AT));
  const telling = words.filter((word) => !stops.has(word));
  return telling.length > 0 ? telling : words;
}

/** Whether the words are certainly English, by a stop word that no other of the languages has. */
export function isEnglish(words: readonly string[]): boolean {
  const first = words.slice(0, MAX_LOOKED_AT);
  return first.some((word) => SURELY_ENGLISH.has(word)) && stopWordsOf(first) === ENGLISH;
}

/** Whether one of two texts is in English, and the other one in another language: at least two stop words say so. */
export function areTranslated(words: readonly string[], others: readonly string[]): boolean {
  const [one, other] = [words, others].map((read) => new Set(read.slice(0, MAX_LOOKED_AT)));
  if (one === undefined || other === undefined) return false;
  return (seemsEnglish(one) && isForeign(other)) || (seemsEnglish(other) && isForeign(one));
}

const MIN_STOP_WORDS = 2;

function seemsEnglish(words: ReadonlySet<string>): boolean {
  return isEnglish([...words]) || (stopWordsOf([...words]) === ENGLISH && hasEnough(words.intersection(ENGLISH)));
}

function isForeign(words: ReadonlySet<string>): boolean {
  return hasEnough(words.intersection(stopWordsOf([...words])).difference(ENGLISH));
}

function hasEnough({ size }: ReadonlySet<string>): boolean {
  return size >= MIN_STOP_WORDS;
}

/** The share of the words that only English has among its stop words: about a quarter in English, 0..1. */
export function englishShare(words: readonly string[]): number {
  return words.filter((word) => SURELY_ENGLISH.has(word)).length / Math.max(1, words.length);
}

/** Whether the words are of a Germanic or Romance language, which inflects with short endings only. */
export function hasShortEndings(words: readonly string[]): boolean {
  const language = LANGUAGES.indexOf(stopWordsOf(words.slice(0, MAX_LOOKED_AT)));
  return language >= 1 && language <= GERMANIC_AND_ROMANCE;
}

/** English, unless another language has more of the words, and two of them or one that means nothing in English. */
function stopWordsOf(words: readonly string[]): ReadonlySet<string> {
  const hits = new Array<number>(LANGUAGES.length).fill(0);
  const sure = new Set<number>();
  for (const word of new Set(words)) {
    for (const language of LANGUAGES_OF.get(word) ?? []) {
      hits[language] = (hits[language] ?? 0) + 1;
      if ((hits[language] ?? 0) > 1 || !AMBIGUOUS.has(word)) sure.add(language);
    }
  }
  let best = 0;
  for (let language = 1; language < hits.length; language += 1) {
    if (sure.has(language) && (hits[language] ?? 0) > (hits[best] ?? 0)) best = language;
  }
  return LANGUAGES[best] ?? ENGLISH;
}

function wordsIn(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/u));
}

/** English, German, French and Spanish; stop words of other languages are names. */
const NAMELESS = LANGUAGES.slice(0, 4);

/** Whether the folded word is a stop word, and hardly a name. */
export function isStopWord(word: string): boolean {
  return NAMELESS.some((stops) => stops.has(word));
}
