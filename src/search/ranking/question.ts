import { memoize } from '../../util/async/memoize.ts';
import { isFunctionWord } from '../words/function-words.ts';
import { loneNouns, partedNoun } from '../words/inflection.ts';
import { plainSpelling } from '../words/plain-spelling.ts';
import { stem } from '../words/stem.ts';
import { hasShortEndings, isEnglish, tellingWords } from '../words/stop-words.ts';
import { mayBeSerbian } from '../words/two-alphabets.ts';
import { fold, tokensOf, wordsOf } from '../words/words.ts';
import { isOwnPast } from './asked-kinds.ts';
import { asksWhy, isAskingWord } from './question-words.ts';
import { otherTokensOf } from './word-parts.ts';

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
  /** Not certainly English. */
  readonly isForeign: boolean;
  /** In Cyrillic letters that Serbian has, so the answer may be in Latin ones. */
  readonly isSerbian: boolean;
  /** Its language inflects with short endings only. */
  readonly hasShortEndings: boolean;
  /** Asks for a reason, in a foreign language and without mentioning people's own past. */
  readonly asksWhy: boolean;
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
    .map(termOf),
);

/** A word in the spelling and form in which words are compared. */
function termOf(word: string): string {
  return stem(plainSpelling(word));
}

/** `names` are the folded names of people in the conversation. They are matched as speakers, not as words. */
export function readQuestion(text: string, names: readonly string[] = []): Question {
  const term = memoize(termOf);
  const folded = fold(text).replace(/['’ʼ]/gu, '');
  const tokens = tokensOf(text);
  const speakers = new Set(names.flatMap(tokensOf));
  const content = tellingWords(tokens).filter((token) => !META.has(term(token)));
  const besides = content.filter((token) => !speakers.has(token));
  const kept = besides.length > 0 ? besides : content.length > 0 ? content : tokens;
  const others = otherTokensOf(text);
  const named = [...new Set(kept.map(term))];
  const terms = [...new Set([...named, ...others.map(term)])];
  const isForeign = !isEnglish(tokens);
  const isGeneral = isForeign && !isOwnPast(text);
  const asksOverview = OVERVIEW.test(folded);
  const asked = ASKED_BOT.exec(folded)?.index ?? folded.length;
  const asksBot = BOT.test(folded) || SAYING.test(folded.slice(asked));
  return {
    terms,
    isTopic: topicsAmong(named, {
      words: isForeign ? new Map(kept.map((word) => [term(word), word])) : NO_WORDS,
      whole: new Set([...wordsOf(text).flatMap((word) => [word, nounBeginning(word)]), ...loneNouns(folded)]),
      isGeneral,
    }).concat(terms.slice(named.length).map(() => named.length === 0)),
    words: [...new Set([...kept, ...others])],
    pairs: pairsOf(tokens.map(term), new Set(terms)),
    folded,
    isForeign,
    isSerbian: isForeign && mayBeSerbian(text),
    inflects: isForeign && !ISOLATING.test(folded),
    hasShortEndings: hasShortEndings(tokens),
    asksWhy: isGeneral && asksWhy(folded, tokens),
    asksWhen: WHEN.test(folded),
    asksNumber: NUMBER.test(folded),
    asksBot,
    asksSelf: SELF.test(folded),
    asksOverview,
    asksAdvice: ADVICE.test(folded) && !asksBot && !asksOverview,
    date: dateOf(folded),
  };
}

/** Words for kinds of answers. */
const ANSWER_KINDS = new Set(
  [
    'name called woman man person people guy lady somebody someone place thing type kind sort number date day month year time hour colour color price way word',
    'heißt hieß namen mann frau person leute ort stadt straße ding art nummer datum tag tage monat monate jahr jahre uhr zeit uhrzeit stunde stunden minuten farbe preis wort',
    'nom appelle appelait homme femme personne gens endroit lieu ville rue pays chose sorte numéro jour jours mois année ans heure heures minutes couleur prix mot nombre',
    'llama llamaba llamado hombre mujer persona gente lugar sitio ciudad calle país cosa tipo número fecha día días mes meses año años hora horas minutos color colores precio palabra',
    'nome chiama uomo donna persona gente luogo posto città paese cosa tipo numero data giorno giorni mese mesi anno anni ora ore minuti colore colori prezzo parola',
    'nome chama homem mulher pessoa lugar cidade rua país coisa tipo número data dia dias mês meses ano anos hora horas minutos cor cores preço palavra',
    'nume cheamă bărbat femeie loc lucru fel număr data zi zile lună luni ani oră ore minute culoare culoarea culori preț cuvânt',
    'naam heet man vrouw mensen plaats stad straat ding soort nummer datum dag dagen maand maanden jaar jaren uur minuten kleur kleuren prijs woord',
    'namn navn kvinna kvinne kvinde plats sted sak ting sort nummer datum dag dagar dage dager månad måned måneder månader år timmar timer minuter minutter färg farge farve färger pris ord',
    'имя имени зовут звали мужчина женщина человек люди место город городе улица улице вещь номер дата день дня дней месяц месяцев год года году лет час часа часов минут цвет цвета цена слово',
    'імʼя імя звати звуть чоловік жінка людина місце річ номер дата день дня днів місяць місяців рік року років година годин хвилин колір кольору ціна слово',
    'imię nazywa mężczyzna kobieta człowiek miejsce miasto mieście ulica ulicy rzecz rodzaj numer data dzień dni miesiąc miesięcy rok roku lat godzina godzinie minut kolor koloru cena słowo',
    'jméno jmenuje muž žena člověk místo věc druh číslo datum den dnů dní měsíc měsíců rok roku let hodina hodin minut barva barvu barvy cena slovo',
    'ime zove muškarac žena čovjek mjesto stvar vrsta broj datum dan dana mjesec godina godine godini sat sati minuta boja boje boju cijena riječ',
    'adı isim kadın adam kişi yer numara tarih gün günü ay yıl yılda saat dakika dakikada renk rengi renkte fiyat',
    'nimi nimeltään mies nainen ihminen paikka asia numero päivä päivää päivänä kuukausi vuosi vuodessa vuotta aika kello tunti minuuttia väri värinen väriset värisiä hinta sana',
    'név neve nő férfi ember hely dolog szám dátum nap napot hónap év évben óra perc percig szín színe színű színűek ár szó',
    'nimi mees naine inimene koht asi number kuupäev päev päeva kuu aasta aastas kell tund minutit värv värvi hind sõna',
    'vardas vyras moteris žmogus vieta numeris data diena dienų mėnuo metai metų valanda minučių spalva spalvos kaina žodis',
    'όνομα άντρας γυναίκα άνθρωπος μέρος πράγμα αριθμός ημερομηνία μέρα μέρες μήνας μήνες χρόνος χρόνια έτος ώρα ώρες λεπτά χρώμα χρώματος τιμή λέξη',
    'اسم رجل امرأة شخص مكان شيء نوع رقم تاريخ يوم يوما أيام شهر شهرا سنة السنة سنوات ساعة دقيقة لون سعر كلمة',
    'שם איש אישה אנשים מקום דבר סוג מספר תאריך יום ימים חודש שנה בשנה שעה דקות צבע מחיר מילה',
    'नाम आदमी औरत व्यक्ति लोग जगह चीज़ प्रकार नंबर तारीख दिन महीना महीने साल वर्ष समय घंटे मिनट रंग कीमत शब्द',
    'nama orang tempat jenis nomor tanggal hari bulan tahun setahun jam menit warna harga kata tên người nơi số ngày tháng năm giờ màu giá 名字 颜色 顏色 地方 日期 价格 時間 时间 名前 場所 이름 색깔 날짜 시간 가격',
  ]
    .join(' ')
    .split(' ')
    .map(termOf),
);

/** Letters of Vietnamese, whose words never change. */
const ISOLATING = /[\u1ea0-\u1ef9]/u;

/** In most languages, words of one or two letters only connect others. */
const BRIEF = /^[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}]{1,2}$/u;

const NO_WORDS: ReadonlyMap<string, string> = new Map();

/** The second syllable of a Korean noun may look like a particle ("첼로는"), but hardly ever like "에". */
function nounBeginning(word: string): string {
  return word.charAt(1) === '에' ? word : word.slice(0, 2);
}

/** A particle with the last character of a longer noun is not a noun. */
function connects(word: string, whole: ReadonlySet<string>): boolean {
  return partedNoun(word) === null ? BRIEF.test(word) || isFunctionWord(word) : !whole.has(word);
}

interface Asked {
  /** The terms as written in a language for which the stems mean nothing. */
  readonly words: ReadonlyMap<string, string>;
  /** The words between spaces, their first two characters, and nouns of one character. */
  readonly whole: ReadonlySet<string>;
  /** About neither the people who talk nor what was. */
  readonly isGeneral: boolean;
}

/**
 * If every term only asks or names a kind of answer, all of them, because the answer may repeat them. In a foreign
 * language none in a question that does not mention people's own past ("How many days has a year?").
 */
function topicsAmong(terms: readonly string[], { words, whole, isGeneral }: Asked): readonly boolean[] {
  const isTopic = terms.map((term) => {
    const word = words.get(term);
    return !ANSWER_KINDS.has(term) && !isAskingWord(word ?? term) && (word === undefined || !connects(word, whole));
  });
  return isTopic.includes(true) || isGeneral ? isTopic : terms.map(() => true);
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
