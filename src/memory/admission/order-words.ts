/**
 * Words that give orders to a reader, in the most spoken languages. Compared without accents and case. A missing
 * language has one guard less; memories are shown to models as data in any case.
 */

const list = (words: string): readonly string[] => words.trim().split(/\s+/u);
const phrases = (lines: string): readonly string[] =>
  lines
    .split(/[\n,]/u)
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== '');

/** Words before the order itself. */
export const POLITE = list(
  'please kindly pls important attention bitte svp por favor prego per piacere alstublieft пожалуйста lutfen',
);

/** First words of a condition, whose order comes after a comma. */
export const CONDITIONS = list(`
  if when whenever once unless should wenn falls sobald immer si quand lorsque dès chaque cuando cada siempre se quando ogni
  caso sempre als wanneer zodra om när hvis når jeśli jeżeli gdy kiedy если когда якщо коли eğer αν όταν إذا כש אם यदि अगर khi
  nếu jika kalau
`);

/** First words of an order. None is also a name, as the Hungarian and the Finnish "never" are: Soha, Ala. */
export const OPENERS = list(`
  always never ignore disregard forget must pretend respond reply answer obey override execute run send delete reveal
  follow treat grant speak translate output
  immer niemals ignoriere ignoriert ignorieren vergiss vergesst antworte antwortet befolge befolgt gehorche lösche löscht
  sende schicke verrate verschweige übersetze behandle
  toujours jamais désormais dorénavant ignorez oublie oubliez réponds répondez répondre obéis obéissez suivez exécute
  exécutez supprime supprimez envoie envoyez révèle révélez agis agissez traduis
  siempre nunca ignora ignorad olvida olvide responde responda obedece obedezca ejecuta ejecute borra borre elimina envía
  envíe revela revele actúa actúe finge finja
  sempre mai ignorate dimentica dimenticate rispondi rispondete obbedisci ubbidisci esegui eseguite cancella cancellate
  invia inviate rivela rivelate agisci fingi
  esqueça esquece obedeça apague apaga envie aja
  altijd nooit negeer vergeet antwoord gehoorzaam verwijder stuur onthul
  alltid altid aldrig aldri ignorera ignorér glöm glem svara lyd radera skicka
  zawsze nigdy ignoruj zignoruj zapomnij odpowiadaj odpowiedz usuń wyślij ujawnij wykonaj udawaj
  asla daima unut unutun yanıtla cevapla gönder
  всегда никогда игнорируй игнорируйте забудь забудьте отвечай отвечайте ответь ответьте повинуйся подчиняйся выполняй
  выполни удали удалите отправь отправьте раскрой притворись действуй отныне завжди ніколи ігноруй відповідай
  πάντα ποτέ αγνόησε ξέχνα
  vždy vždycky nikdy odpovídej odpověz odpovedaj zapomeň zabudni poslouchej počúvaj
  mindig felejtsd válaszolj engedelmeskedj mostantól mereu întotdeauna niciodată
  uvijek uvek nikad nikada zanemari ignoriraj ignoriši odgovaraj odgovori zaboravi винаги отговаряй забрави увек занемари
  tottele unohda vastaa adlyd obeeix respon відтепер απάντα υπάκουε همیشه هرگز puuza daima laging palaging huwag
  تجاهل دائما انس أجب احذف أرسل نفذ תמיד התעלם תתעלם שכח ענה हमेशा luôn selalu abaikan lupakan jawablah
`);

/** First words of an order that need a second one. */
export const OPENING_PHRASES = phrases(`
  do not, don t, dont, you must, you should, you shall, you will, you have to, you are to, you are now, you re now, from now on, act as,
  du musst, du sollst, du darfst, du wirst, ihr müsst, ihr sollt, ab jetzt, ab sofort, von nun an, von jetzt an, tu so, handle als,
  tu dois, tu devras, vous devez, vous devrez, à partir de maintenant, fais semblant, faites semblant, ne réponds, ne répondez, n oublie,
  debes, tienes que, usted debe, a partir de ahora, de ahora en adelante, no respondas, no responda,
  devi, dovete, lei deve, d ora in poi, da ora in poi, fai finta, non rispondere,
  você deve, deves, de agora em diante, a partir de agora, não responda,
  je moet, u moet, vanaf nu, doe alsof, du måste, du ska, du skal, från och med nu, fra nå av, fra nu af,
  musisz, od teraz, her zaman, bundan sonra, ты должен, ты должна, вы должны, ты обязан, с этого момента, с этих пор, не отвечай,
  od teď, odteraz, od sada, od sad, отсега нататък, од сада, de acum înainte, de acum încolo, tästä lähtien, tästä eteenpäin, soha ne,
  älä koskaan, älä vastaa, älä kerro, älä paljasta, älä noudata, älä tottele, älä välitä, älä käytä, älä mainitse,
  a partir d ara, hemendik aurrera, nuo šiol, no šī brīža, nüüdsest, از این به بعد, از حالا به بعد, अब से, ab se, এখন থেকে, இனிமேல்,
  từ giờ, từ nay, kuanzia sasa, mula ngayon, ти повинен, ти мусиш, πρέπει να, من الآن, يجب عليك, עליך, מעכשיו, तुम्हें, आपको, hãy, bỏ qua, mulai sekarang, kamu harus
`);

/** Who is given the order, and that they must follow it. */
export const READERS = list(
  'assistant bot ai ki ia model modell strata assistent asystent ассистент бот модель chatbot asistente assistente',
);
export const OBLIGATIONS = phrases(`
  must, should, shall, has to, is to, will always, will never, may never, muss, soll, sollte, darf, doit, devrait, debe, tiene que,
  deve, moet, måste, ska, skal, musi, должен, должна, обязан
`);
export const ARTICLES = list('the this der die das dieser le l el la il lo o a de het den');

/** Beginnings of the verbs and nouns of "ignore all previous instructions". */
export const REVOKING = list(`
  ignor disregard override overrid forget vergiss vergess missacht oubli olvid dimentic esquec negeer vergeet zapomn zignor
  игнор забуд ігнор unut تجاهل התעלם abaikan αγνόησ hagyd hagyja felejts unohda ohita zanemar занемар prezri puuz balewal kalimut
`);
export const RULES = list(`
  instruct instruk instruc rule prompt polic guideline directive anweisung regel vorgabe richtlinie consigne règle directiv
  utasítás szabály ohje sääntö säännö pokyn pravidl uput правил упут οδηγί εντολ κανόν nurodym taisykl norādījum noteikum juhis
  juhend maagizo maelekezo tagubilin istruzion regol regra instrução polec zasad инструкц правил указани talimat kural تعليم הוראות instruksi
`);
/** Titles that claim more authority than a statement has. */
export const CLAIMS = phrases(`
  system prompt, system override, system message, systemprompt, developer mode, admin override, standing instructions, standing orders,
  note to the assistant, note to the reader, note to the model, instructions to the reader, système prioritaire, systemanweisung
`);

/** Orders in scripts without spaces, where single words cannot be isolated. */
export const UNSPACED_ORDERS = list(
  '你必须 你必須 您必须 你应该总是 从现在起 從現在起 从现在开始 今后必须 请始终 總是用 总是用 しなさい 今後は 常に てください 반드시 지금부터 앞으로는 하세요 จากนี้ไป ตั้งแต่นี้ไป',
);
export const UNSPACED_REVOKING = list('忽略 无视 無視 忘记 忘記 忘れ 무시 잊어 เพิกเฉย अनदेखा উপেক্ষা புறக்கணி نادیده');
export const UNSPACED_RULES = list(
  '指令 指示 规则 規則 提示 命令 설명 지시 규칙 명령 プロンプト ルール คําสั่ง निर्देश নির্দেশ வழிமுறை دستور',
);
