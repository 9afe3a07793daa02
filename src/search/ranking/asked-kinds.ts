import type { SpecificKind } from '../../ports/summary-store.ts';
import { withWordEdges } from '../../util/text/word-edges.ts';
import { fold } from '../words/words.ts';

/** What kind of detail a question asks for, by its words in the most spoken languages. */
const KINDS: readonly (readonly [readonly SpecificKind[], RegExp])[] = [
  [
    ['code', 'number'],
    /\b(?:codes?|pin|passwords?|passcode|passphrase|combination|serial|reference|booking|voucher|coupon|licen[cs]e|plate|keys?|tokens?|version|phone|telephone|unlock|disarm|log ?in|type in|ids?|iban|kennwort|passwort|nummer|telefonnummer|schlüssel|kennzeichen|mot de passe|numéro|clé|contraseña|clave|número|senha|chave|codice|wachtwoord|hasło|numer|şifre|parola|numara)\b|код|пароль|номер|密码|密碼|号码|號碼|编号|暗証番号|パスワード|番号|비밀번호|번호|رمز|كلمة السر|पासवर्ड|नंबर/u,
  ],
  [
    ['number'],
    /\b(?:cost|costs|price|pay|paid|expensive|charge|amount|how (?:much|many|long|big|old|tall|far|often)|size|sum|total|fee|kostet|kosten|preis|wie ?viele?|coûté?|prix|combien|cuest[ao]|costó|precio|cuánt[ao]s?|cust[ao]u?|preço|quant[oaie]s?|costato|prezzo|hoeveel|ile|kosztował\w*|kaç|fiyat)\b|сколько|цена|стоил|多少|几|價格|价格|いくら|値段|얼마|كم|कितन/u,
  ],
  [
    ['link'],
    /\b(?:links?|urls?|websites?|web ?page|site|e-?mail|mail address|online|album|pictures|photos|seite|webseite|lien|enlace|correo|sito|strona|bağlantı)\b|ссылк|сайт|почт|链接|網址|网址|邮箱|リンク|サイト|링크|주소|رابط|लिंक/u,
  ],
  [
    ['path'],
    /\b(?:files?|folders?|paths?|director(?:y|ies)|scripts?|documents?|spreadsheet|sheet|datei|ordner|pfad|verzeichnis|fichier|dossier|archivo|carpeta|ficheiro|pasta|cartella|bestand|plik|dosya)\b|файл|папк|путь|文件|文件夹|路径|檔案|ファイル|フォルダ|파일|폴더|ملف|फ़ाइल/u,
  ],
  [
    ['prohibition'],
    /\b(?:allowed|forbidden|prohibited|must(?:nt| not)?|may i|may we|can i|should(?:nt| not)|never|avoid|rules?|at most|darf|dürfen|erlaubt|verboten|interdit|permis|puedo|permitido|prohibido|posso|proibido|mag ik|wolno|yasak)\b|можно|нельзя|запре|可以吗|不能|不要|禁止|だめ|いいですか|금지|해도|ممنوع|मना/u,
  ],
  [
    ['promise', 'number'],
    /\b(?:promise[ds]?|owe|owed|agreed|return|give back|pay back|exchange|debt|commit(?:ted)?|versprochen|schulde|zugesagt|promis|dois|prometí|debo|prometi|promesso|beloofd|obiecał\w*|söz)\b|обещал|должен|答应|保证|承诺|欠|約束|약속|وعد|वादा/u,
  ],
];
const ASKED = KINDS.map(([kinds, words]) => [kinds, withWordEdges(words)] as const);

export function kindsAskedFor(question: string): ReadonlySet<SpecificKind> {
  const folded = fold(question).replace(/['’ʼ]/gu, '');
  return new Set(ASKED.flatMap(([kinds, words]) => (words.test(folded) ? kinds : [])));
}

/** Words of the past, and of what belongs to the people who talk. */
const OWN_PAST = withWordEdges(
  /\b(?:my|our|ours|we|i|me|us|did|was|were|had|mein\w*|unser\w*|wir|ich|hat|hatte\w*|war|waren|mon|ma|mes|notre|nos|nous|ai|avons|était|mi|mis|nuestr\w+|fue|era|minha|meu|nosso|nossa|foi|mio|mia|nostr\w+|mijn|ons|onze|wij|was|mój|moja|nasz\w*|był\w*|benim|bizim)\b|мой|моя|моё|мои|наш|был|我|咱|私|僕|俺|내|우리|제|لي|كان|मेरा|मेरी|हमारा|था|थी/u,
);

/** Whether a question is about the people who talk, or about what was. */
export function isOwnPast(question: string): boolean {
  return OWN_PAST.test(fold(question));
}
