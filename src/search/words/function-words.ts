import { fold } from './words.ts';

/**
 * Words that only connect others, in languages of questions whose stems mean nothing: pronouns, auxiliaries, prepositions
 * and the like. They say nothing about the topic, wherever they occur. Unlike stop words, they are never left out of a
 * search.
 */
const WORDS = new Set(
  [
    // Do, make, say and know
    'yapılır yapmak yapar yaptı dedi söyledi bilmek tehdä tehdään tekee teki tein sanoi tietää csinál csinálni készül készít tesz mondta tudja teha tehakse teeb',
    'robić zrobić robi zrobił zrobiła powiedział powiedziała wiem dělat udělat dělá udělal řekl řekla raditi napraviti rekao rekla делать сделать делает делают сделал сделала сказал сказала знает робити зробити робить зробив сказав прави правя направи казах каза',
    'machen macht machte gemacht tun getan sagen sagt gesagt weiß weißt maken maakt gemaakt doen doet göra gör gjorde lave laver lavede gøre lage laget faire font fait dit sait hace hizo dice dijo sabe fatto detto faz fez feito disse face făcut spus κάνω κάνει κάνουμε είπε',
    'عمل فعل قال قالت עושים לעשות עושה אמר אמרה बना बनी बनाना बनाते बनाई बनाए बनता बनती कहा बताया کرد کردن کند کنند می‌کنند گفت درست membuat buat làm nói biết',
    // The last time
    'son kez defa viimeksi kerran utolsó utoljára viimati viimane ostatni ostatnio raz poslední naposledy zadnji put последний последняя последнее раз останній zuletzt letzte letzten letztes mal dernière dernier fois última último vez ultima ultimo volta laatste keer sist siste seneste gang τελευταία φορά آخر مرة אחרון פעם आखिरी बार',
    // Now, and take place
    'jetzt nun derzeit statt findet geht gehen ging maintenant ahora adesso agora acum nu nå teraz teď nyní sada zdaj сейчас теперь зараз тепер сега şimdi nyt most nüüd dabar tagad τώρα الآن עכשיו अब अभी الان اکنون sekarang',
    // Turkish, Finnish, Hungarian and Estonian
    'kadar gibi daha çok her hiç şey sonra önce göre olan olarak oldu olur olacak lazım gerek gerekiyor değil benim senin bizim sizin bana beni sana seni ona onu bize onlar kendi',
    'minun sinun hänen meidän teidän heidän minulla sinulla meillä minua minulle pitää voi voin voit täytyy paljon hyvin myös vain kanssa jälkeen ennen niin tämän siitä oliko onko kaikki joka jotka miten millainen minkä miksi montako',
    'kell lehet lesz lenne kellett kellene nekem neked neki nekünk engem téged hány mennyi mennyire meddig hova honnan kinek mire azt ezt minden nagyon csak már még után előtt alatt között vagyok vagyunk szabad',
    'kas mis mida kes kus kuhu kust millal miks kuidas milline millise missugune mitu palju minu sinu tema meie teie nende mul sul meil oli olid saab peab võib pole või veel juba väga pärast enne ilma',
    // Slavic and Baltic languages
    'mam masz musi muszę musimy można trzeba będzie będą jestem jesteś są mnie mną tobie twój twoja twoje swój nam wasz tego tym tych jego jej ich tylko bardzo już jeszcze przed przy między bez ile jaką jakiego jakim których którego czego komu czym mojego naszego',
    'musí musím musíme může mohu můžu máš měl měla mají jsme jste jsi byly bude budou budeme mně tobě tvůj naši vaše tento tato toto tím toho jeho její jejich jen velmi ještě před při mezi bez kolik jakou jakého jakým čeho komu čím mojí mého našeho kam odkud proč kedy ako koľko ktorý ktorá ktoré prečo sme náš naša',
    'kada gdje gde kako koji koja koje kojoj kojem kojim koliko što šta tko zašto odakle smo ste nije nisu bio bila bilo bili imam imaš imamo imaju moj moja moje moji mojoj naš naša naše naši vaš tvoj njegov njihov meni mene tebi nam nas vas ćemo treba mora moram može mogu biti samo jako vrlo više već još prije poslije nakon između bez kod kdaj kje kaj zakaj kateri katera katero',
    'кога къде какво какъв каква какви кой коя кое кои колко защо съм сме сте беше бяха има имам имаме имат моят моята моето моите нашата нашият нашето нашите трябва може бъде много още вече преди след между без при',
    'моего моему моим моих моем нашего нашей нашему нашим наших нашем твой твоя твои свой своя ваш ваша его её их им нас вас нам вам тебя тебе мной можно нужно надо должен должна должны буду будет будут такое такой какую какого каким каких которую который которая только очень уже ещё перед после между без при над под чтобы если или',
    'моєму моїм моїх нашого нашої нашим наших твій його її їх нас вас нам вам тебе тобі можна треба потрібно повинен буду буде будуть таке такий яку якого яким яких котрий куди звідки чий тільки дуже вже ще перед після між без при над під щоб якщо або',
    'kada kur kas ką kuris kuri kurie kurios kuriame kokia koks kokios kiek kodėl kaip mano mūsų jūsų tavo yra buvo bus turi turėjo mane mums prie prieš kad kāds kāda cik kāpēc mans mana mūsu jūsu viņa bija būs pēc pirms',
    // Serbian in both alphabets, and Mongolian
    'šta gde ko kom koja koju koje kolika koliku koliko čiji čija sme smo ste su nam vam ćemo ću bila bio bilo шта где ко ког којој која које који коју кад када колика колику колико зашто чији чија је смо сте су да ли нам вам ћемо ћу треба сме била био било за са из по',
    'аль хаана хаанаас хэн хэнд хэний хэнтэй юу юунд юуг ямар ямраар хэд хэдэн хэзээ яагаад яаж вэ бэ юм гэж байна байгаа байсан байх бий болох болно миний минь манай маань бид бидний биднийг чиний таны түүний энэ тэр дээр доор дотор хүн',
    // Germanic languages
    'viel viele vielen mehr sehr müssen muss kann können soll sollen unser unsere unseren unserem unserer meinen meinem meiner habe hast hatte hatten wurde wurden heißt beim ihren ihrem dich dir mich mir uns euch jeder jede alle denn schon gegen',
    'hebben hadden wordt worden kunnen moet moeten zal mij jullie hun hen veel meer zeer nog tussen zonder elk alle',
    'hade finns vara blev blir ska skal skulle måste många mange mycket meget mina vårt vores dina sitt deras heter hedder efter før innan mellan utan uden',
    // Romance languages and Greek
    'votre leurs lesquelles combien pourquoi étaient sont avait avons avez faut doit peut plus très tout tous toute sans sous après avant entre cet celui celle ça',
    'tiene tienen tengo tenemos tenía había hay están estaba estar ser fueron eran puede pueden puedo debe hace hacer nuestro nuestra nuestros nuestras cuántos cuántas cuánto cuáles muy más también pero sin sobre entre desde hasta antes después todo todos cada queda va',
    'erano essere stato stata avere avevo aveva abbiamo può possono devo deve fare nostre vostro loro molto più anche senza sotto sopra prima dopo tutto tutti ogni',
    'tem têm tenho temos tinha estão estava foram eram pode podem posso deve faz fazer nossos nossas deles muito também sem depois',
    'care cât câte câți câtă când unde cine din pentru este sunt era erau eram avem aveți fost meu mea mei mele nostru noastră noștri noastre tău lui lor îmi unei unui cel cea cei cele mai foarte tot toate după înainte între fără trebuie poate pot acest această un',
    'είχε είχα είμαι ένας κάθε πρέπει μπορεί μπορώ πόσους ποιους πολύ πολλά πιο μετά πριν μεταξύ χωρίς δικό σας τους',
    // Semitic languages and Persian
    'هذا هذه ذلك تلك التي الذي كان كانت يكون هو هي هم نحن أنا عند عندي عنده عندنا لدي لديه لدينا لي لنا له لها بعد قبل بين كل قد لا لم لن أن إن ما من في على إلى عن مع',
    'של שלי שלנו שלך שלו שלה שלהם את זה זו זאת היה הייתה היו הם הן הוא היא אני אנחנו אתה יש אין על עם אל אם כי גם רק מאוד כל אחרי לפני בין לי לנו לו לה איזו באיזה באיזו צריך אפשר',
    'است بود هست هستند دارد داریم دارم من ما شما او آنها این آن با در به از که را برای هر خیلی چه شد می',
    // Languages of South Asia and the Caucasus
    'एक होता होती होते होगा हुआ हुई हुए किया करना करने कर सकते चाहिए रहा रही रहे गया गई उनका इसका अपना अपनी अपने बहुत सबसे भी तो ही तक बाद पहले लिए साथ',
    'কী কোন কবে কয় কার কাকে কিসে কিসের নাকি কি কে কোথায় কখন কেন কীভাবে কত আমার আমাদের তোমার আপনার তার আছে ছিল হয় এই সেই এবং',
    'என் எங்கள் உங்கள் எது எங்கே எப்போது எப்படி எத்தனை எவ்வளவு எந்த யார் என்ன ஏன் உள்ளது உள்ளன இருக்கிறது இருந்தது ஒரு இந்த அந்த நான் நாம் ఎక్కడ ఎప్పుడు ఏమి ఎవరు ఎలా ఎంత నా మా ಎಲ್ಲಿ ಯಾವಾಗ ಏನು ಯಾರು ಹೇಗೆ ಎಷ್ಟು ನನ್ನ എവിടെ എപ്പോൾ എന്ത് ആര് എങ്ങനെ എത്ര എന്റെ',
    'სად როდის ვინ რა რომელი რომელ რომელია რამდენი რამდენ როგორ რატომ ჩემი შენი ჩვენი მისი მათი არის იყო არიან აქვს ჰყავს ჰყავთ მე შენ ის ჩვენ თქვენ და თუ რომ որտեղ երբ ով ինչ որ ինչպես ինչու քանի իմ մեր է են էր',
    'ምን ምንድን የት መቼ ማን ማነው ለምን እንዴት ስንት የትኛው የትኛዋ ነው ናት ናቸው ነበር አለ አላቸው እና ግን ወይም ውስጥ ጋር ላይ እኔ አንተ እሱ እሷ እኛ ይህ ያ',
    'මොකක්ද මොකද මොනවද මොනවා මොන කොහෙද කොහේද කොහේ කවුද කාටද කීයද කීයටද කීයක් කවදාද ඇයි කොහොමද මගේ අපේ ඔයාගේ එයාගේ අපි මම තියෙනවා තියෙන්නේ වෙන්නේ වෙනවා ඕනේ ඕනේද පුළුවන්ද එක',
    'ఏమి ఏమిటి ఏం ఏ ఏది ఎవరు ఎవరి ఎవరికి ఎంత ఎన్ని ఎలా ఎందుకు మా మన నా మీ మనం మేము నేను ఉంది ఉన్నాయి ఉన్నారు దగ్గర',
    'کیا کون کس کسے کہاں کب کیوں کیسے کتنا کتنی کتنے کونسا کونسی ہے ہیں تھا تھی تھے ہوگا ہوگی ہمارا ہماری ہمارے میرا میری میرے کا کی کے کو سے میں پر نے',
    // Tibetan writes a mark between syllables
    'ག རེ པར དུས ཚོད གང སུ སུས ལ ན ནས གི ཀྱི གྱི འི ཡི གིས ཀྱིས གྱིས ནི དང ཡང རེད ཡིན ཡོད འདུག སོང མ མི ང ངའི ང་ཚོ ཁོ མོ དགོས རྒྱུ བྱེད',
    // South-East Asia and Swahili
    'saya aku kami kita kamu anda dia mereka ini itu yang dari pada dalam untuk dengan dan atau apa mana ada adalah akan sudah telah belum tidak bukan bisa dapat harus sangat lebih juga oleh sebelum sesudah setelah',
    'tôi của là có không được cho với và các những một này đó ở từ đến gì nào đâu khi sao mấy bao nhiêu chúng ta bạn đã đang sẽ rất cũng ang ng mga sa ni ay na ano anong sino sinong saan saang nasaan kailan bakit paano magkano ilan ilang alin aling ba po natin namin atin amin ko mo niya ito iyan may nini nani wapi lini gani ngapi jinsi yangu yetu yako',
  ]
    .join(' ')
    .split(' ')
    .map(fold),
);

/** Two syllables of Korean endings and particles. */
const KOREAN = new Set(
  '에요 이에 예요 어요 아요 해요 나요 가요 세요 네요 군요 니다 습니 입니 니까 까지 에서 부터 한테 에게 으로 하고 이랑 었어 았어 했어 였어 있어 있나 있죠 했죠 었죠 인가 은가 는가 하나'.split(
    ' ',
  ),
);
/** Japanese writes most words with other characters, and what connects them with these. */
const HIRAGANA = /^[\u3041-\u309f]/;
/** A pair with one of these crosses the end of a word: particles of Japanese, pronouns and particles of Chinese. */
const CONNECTING =
  /[はがをにでとのもへ什么麼为為谁誰哪怎吗嗎呢的了是我你您他她它们們这那這没沒和也都就很吧啊把被给給跟从從候]/u;

/** Whether a folded word, or a pair of characters, only connects others in any language. */
export function isFunctionWord(word: string): boolean {
  return WORDS.has(word) || KOREAN.has(word) || HIRAGANA.test(word) || CONNECTING.test(word);
}
