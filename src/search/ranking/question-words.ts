import { fold } from '../words/words.ts';

/** Words by which questions are recognised, in some of the most spoken languages. All are folded. */

/** Before a question; they do not change it. */
export const GREETINGS = wordSet(
  'hey hi hello so and but btw also please pls dear good hallo und aber also bitte guten moin salut bonjour bonsoir et mais hola buenos buenas y pero oye ciao buongiorno e ma oi olá merhaba selam привет здравствуйте добрый а и но скажи 你好 こんにちは 안녕 안녕하세요 مرحبا و नमस्ते สวัสดี',
);

/** Words that answer the previous message; a following question is about the same. */
export const REACTIONS = wordSet(
  'hm hmm hmmm ok okay sure thanks thank thx great cool nice wow yeah yes yep no nope oh ah right alright danke ja nein gut genau merci oui non gracias sí vale bueno claro grazie sì obrigado obrigada sim não спасибо да нет хорошо понятно 嗯 好的 谢谢 はい ありがとう なるほど 네 감사합니다 그래',
);

/** At the beginning of a question. */
export const QUESTION_WORDS = wordSet(
  [
    'what whats when whens where wheres who whos whom whose which why how hows',
    'wann wo woher wohin wer wen wem wessen welche welcher welches welchen welchem warum wieso weshalb wie wieviel wogegen womit wofür worüber woran',
    'que quoi quand où qui quel quelle quels quelles lequel laquelle pourquoi comment combien',
    'qué cuándo cuando dónde donde quién quien quiénes cuál cuáles cómo como cuánto cuánta cuántos cuántas',
    'quê quem onde qual quais quanto quanta quantos quantas cadê cosa che dove chi quale quali perché come quanti quante',
    'wat wanneer waar wie welke welk waarom hoe hoeveel co kiedy gdzie kto który która które dlaczego jak ile czy skąd jaki jaka jakie',
    'vad när vem vilken vilket vilka hur varför hvad hvornår hvor hvem hvilken hvilket hvordan hvorfor hva',
    'когда где куда откуда кто кого кому чей какой какая какое какие каком какую почему зачем как сколько скольки что',
    'коли де хто який яка яке які чому скільки чи як що τι πότε πού πώς ποιος ποια ποιο ποιον πόσο πόσα πόσες γιατί',
    'ماذا متى أين اين لماذا كيف كم هل أي اي مين وين ليش شو ايش מה מתי איפה מי למה איך כמה איזה האם',
    'neden niçin niye nasıl hangi kim kaç nerede',
  ].join(' '),
);

/** Question words that also begin subordinate clauses, which have a comma before the main clause. */
export const CONJUNCTIONS = wordSet(
  'when where wie wo quand que cuando donde como come che quanto quando onde när wanneer jak kiedy когда где как что коли як що כמה كيف متى',
);

/** Those that are also English words or names, so they need a mark or one of `ASKING_PHRASES`. */
export const ENGLISH_TOO = wordSet('come dove hoe kim');

/** What asks for a reason, which is often one of the world at large. */
const WHY = wordSet(
  'warum wieso weshalb pourquoi waarom varför hvorfor perché dlaczego proč prečo zašto zakaj kodėl kāpēc miks miksi miért neden niçin niye почему зачем чому защо γιατί لماذا ليش למה چرا क्यों mengapa kenapa',
);
const WHY_ANYWHERE = new RegExp(
  fold('por ?qu[eê](?![a-z])|por qué|de ce |tại sao|なぜ|どうして|왜|为什么|為什麼|ทำไม|ஏன்|რატომ|ինչու'),
  'u',
);

/** After a preposition, the Ukrainian word for "why" means "what": "На чому". */
export function asksWhy(folded: string, words: readonly string[]): boolean {
  return words.some((word, at) => WHY.has(word) && !PREPOSITIONS.has(words[at - 1] ?? '')) || WHY_ANYWHERE.test(folded);
}

/** Words that ask wherever they stand in a sentence. */
export const ASKING_ANYWHERE = wordSet(
  [
    'क्या कब कहाँ कहां कौन कौनसा कौनसी किस किसने किसका किसकी किसके किसको किसे कैसे कैसा कैसी क्यों कितना कितने कितनी',
    'neydi nedir neymiş neresi neredeydi nereye nereden nerede kimdi kimin kime kiminle kaçta kaçtı kaç hangi hangisi niçin niye mı mü mısın misin musun müsün miydi mıydı muydu müydü miyim mıyım miyiz mıyız',
    'kapan siapa berapa dimana mengapa kenapa bagaimana apakah کجا کجاست کدام چند چرا آیا چیست',
  ].join(' '),
);

/** Verbs that ask when a subject follows them. */
export const VERBS = wordSet(
  'did does is are was were am have has had can could will would should hat hatte haben hast habe ist sind war waren kann kannst könntest weißt erinnerst heb heeft is zijn était avez avons peux pouvez sais',
);
export const SUBJECTS = wordSet(
  'i you we he she it they my our your his her their the this that these those there anyone anybody someone somebody everyone ich du er sie es wir ihr man mein meine unser unsere dein deine der die das den dem jemand ik jij je hij zij we mijn onze het ce que vous tu',
);

/** Before a question word they ask; alone they do not. */
export const PREPOSITIONS = wordSet(
  'in on at for to about with from by of since until under during um am an seit bis mit von für aus bei nach zu auf über à de depuis pour avec en dans chez sur jusqu sous par a con desde para por hasta sobre em na no com da do di per su al z na do o od w u we ke в во на с со до о об у от к из по за για με από σε من في إلى الى على عن مع منذ ل ب',
);

/** Beginnings of questions whose first word alone may begin something else. */
export const ASKING_PHRASES =
  /^(?:come (?:si|è|era|erano|ho|ha|abbiamo|hanno|faccio|fa|facciamo|va|mai)|dove (?:si|è|era|erano|ho|hai|ha|abbiamo|sono|siamo|sta|va|posso)|hoe (?:laat|lang|veel|heet|heette|was|is|ging|gaat)|kim(?: \p{L}+){1,5}(?<=[dt][ıiuü]|yor|[ae]c[ae]k)|do (?:i|you|we|they|my|our)|may (?:i|we)|did|does|was (?:hat|habe|haben|hatte|ist|sind|war|waren|kostet|für|sagte|wollte|soll|steht|macht|gab|gibt|wurde|wird|kann|mag|isst|trinkt)|o kt[oó]r\p{L}+|o (?:kogo|co)|o que|a que|que horas|ما (?:هو|هي|هذا|هذه|اسم|رقم|لون|عنوان|موعد|تاريخ|سعر|نوع|ال\p{L}+)|من (?:هو|هي|هم|معه|معها|كان|كانت|قال|قالت|الذي|أين|اين|متى)|באיזה|khi nào)(?![\p{L}\p{N}])|(?:^| )(?:ne (?:zaman|kadar|dedi|oldu)|ở đâu|bao nhiêu|bao giờ|khi nào|thế nào|là gì|là ai|mấy giờ|di mana)(?![\p{L}\p{N}])/u;

/** Requests to look something up, with what must follow; without it they order something else, or are a heading. */
export const REQUESTS =
  /^(?:(?:can|could|would|will) you |please |pls )?(?:(?:tell|show|give) (?:me|us)|remind (?:me|us) (?!to\b)|list (?:the|all|my|our|every|everything|what|each)|name (?:the|all|my|our|every)|summari[sz]e|recap|describe|explain|recall|remember (?:when|what|who|where|which|how|the|that|my|our)|walk me through|sagt? (?:mir|uns)|nenne? (?:mir|uns|alle)|erinnere? mich (?:daran, )?w|fass |liste |dis[ -]moi|rappelle[ -]moi|redis[ -]moi|dime|recu[eé]rdame|dinos|me (?:diga|diz|lembra)|dimmi|ricordami|zeg me|herinner me|powiedz mi|przypomnij mi|söyle|hatırlat|напомни|подскажи|расскажи|скажи|нагадай|أخبرني|اخبرني|ذكرني|قل لي|मुझे बताओ|मुझे बताइए|याद दिला)/u;

/** Says that the writer does not remember. */
export const FORGOTTEN =
  /\b(?:ca ?n(?:['’]?t|not)|do(?: not|n['’]?t)) (?:remember|recall)\b|\bforgot(?:ten)? (?:what|who|where|when|which|how|the|my|our)\b|wei(?:ß|ss) nicht mehr|erinnere? mich nicht|vergessen, w|ai oublié (?:où|quand|quel|qui|comment|le|la)|me souviens (?:plus|pas)|no (?:me acuerdo|recuerdo)|se me olvidó (?:el|la|qué|cómo|dónde|cuándo)|não (?:me )?lembro|non (?:mi )?ricordo|nie pamiętam|hatırlamıyorum|unuttum|не помню|забыла? (?:как|где|когда|кто|что|какой|номер)|忘了|不记得|不記得|想不起|忘れた|忘れました|忘れちゃ|思い出せ|기억이 안|까먹었|잊어버렸|نسيت|لا أتذكر|لا أذكر|भूल गय|याद नहीं|จําไม่ได้|ลืมว่า/u;

/** Asks the same once more, so it does not continue the topic. */
export const ONCE_MORE =
  /\b(?:again|remind|remember|recall|nochmal|noch ?mals?|erinner|encore|déjà|rappel|otra vez|de nuevo|recuerda|di nuovo|ricord|de novo|lembra|opnieuw|tekrar|hatırl)|ещё раз|напомни|помнишь|再说|もう一度|っけ|다시/u;

/** Begins like a question but exclaims or goes on. */
export const EXCLAMATION =
  /^(?:what an? (?!\w+ (?:did|do|does|is|was|were)\b)|how (?:nice|lovely|great|sweet|kind|funny|sad|cool|beautiful|wonderful|awful|cute)\b|quell?e?s? (?:bel|bon|joli|chance|dommage|horreur|plaisir|surprise)|que (?:du|de|bien|bueno|buena|lindo|bonito|rico|tengas|tengan|te|vaya)\b|qué (?:bien|buen|lind|bonit|ric|pena|lástima|alegría)|que? (?:bom|legal|pena)\b|che (?:bell|brav|buon|peccato|meravigli|noia|schifo)|wie (?:gesagt|immer|schön|nett|toll)\b|wat (?:leuk|mooi|fijn|jammer)|co do |ne (?:güzel|iyi|mutlu)|как (?:хорошо|здорово|жаль|красиво|мило|только)|какой ужас|какая (?:красота|прелесть|жалость)|что (?:ж|касается))/u;

/** Question words, endings and requests of scripts without spaces, or with attached particles, anywhere in a sentence. */
export const ASKING_UNSPACED = new RegExp(
  `${fold(
    '谁|誰|什么|什麼|何时|何時|哪|为什么|為什麼|怎么|怎麼|多少|几|幾|吗|嗎|是不是|有没有|有沒有|能不能|会不会|會不會|邊度|邊個|邊位|喺邊|點解|點樣|乜嘢|咩|記唔記得|告诉我|告訴我|总结|列出|なに|何|いつ|どこ|だれ|なぜ|どう|どの|どれ|ですか|ますか|ましたか|でしたか|っけ|教えて|まとめて|무엇|무슨|뭐|뭘|언제|어디|누구|누가|왜|어떻게|얼마|몇|어느|어떤|알려 ?[줘주]|말해 ?[줘주]|[습입합]니까|요약해|อะไร|ไหน|เมื่อไหร่|เมื่อไร|ใคร|ทำไม|อย่างไร|ยังไง|เท่าไหร่|เท่าไร|กี่|หรือเปล่า|หรือไม่|หรือยัง|ไหม|มั้ย|ช่วยบอก|អ្វី|ណា|ប៉ុន្មាន|តើ|ຫຍັງ|ໃສ|ໃດ|ໃຜ|ຈັກ|ག་རེ|ག་པར|ག་དུས|ག་ཚོད|ག་འདྲ|ག་ནས|གང་|ནམ་ཡིན|ཇི་ལྟར|(?<![^་། ])སུ[་སའར]',
  )}|(?:လဲ|လား|ບໍ|ບໍ່)(?=[^\\p{L}\\p{M}]*$)`,
  'u',
);

/** The same words where they ask nothing: "something", "always", "almost", "because". */
export const INDEFINITE = new RegExp(
  fold(
    '几乎|幾乎|好几|好幾|都幾|幾好|这几|這幾|前几|前幾|过几|過幾|没什么|沒什麼|什么的|什么都|谁都|誰都|哪怕|多少有点|何か|何も|何で?でも|誰か|誰も|誰でも|どこか|どこも|どこでも|いつも|いつか|いつでも|なにか|なにも|だれか|だれも|どうも|どうぞ|どうしても|どうやら|왜냐|언제나|언제든|언젠가|어딘가|어디나|누군가|누구나|누구든|뭔가|뭐든|무엇이든|몇몇|얼마 전|어떻게든|어느새|อะไรก็|ใครก็|ไหนก็|เมื่อไหร่ก็|ไม่มีอะไร|ไม่มีใคร|ไม่ได้อะไร|ណាត់|ណាស់|ណាមួយ|ណាក៏|ຮູ້ຈັກ|གང་ཡང|གང་ཟག|ག་རེ་ཡང|སུ་ཡང|སུའང',
  ),
  'gu',
);

/** Whether a word, or a pair of characters, only asks. */
export function isAskingWord(word: string): boolean {
  return QUESTION_WORDS.has(word) || ASKING_ANYWHERE.has(word) || PREPOSITIONS.has(word) || ASKING_UNSPACED.test(word);
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').map(fold));
}
