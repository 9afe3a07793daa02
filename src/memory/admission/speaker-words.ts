import { fold } from '../../search/words/words.ts';

/**
 * What models write for the speaker in the place of a name, as most have learned from other memory systems. Pronouns that
 * are somebody's name elsewhere, such as the Turkish one, are not among them.
 */
const WORDS = new Set(
  [
    'user|the user|speaker|the speaker|i|me|myself',
    'nutzer|der nutzer|die nutzerin|benutzer|der benutzer|die benutzerin|sprecher|der sprecher',
    'utilisateur|l’utilisateur|l’utilisatrice|usuario|el usuario|la usuaria|utente|l’utente',
    'usuário|o usuário|utilizador|o utilizador|gebruiker|de gebruiker|användaren|användare',
    'brugeren|brukeren|käyttäjä|użytkownik|uživatel|felhasználó|utilizator|kullanıcı',
    'пользователь|користувач|χρήστης|المستخدم|משתמש|उपयोगकर्ता|người dùng|pengguna|ผู้ใช้',
    '用户|用戶|使用者|我|ユーザー|私|사용자',
  ]
    .flatMap((words) => words.split('|'))
    .map(spelt),
);

function spelt(word: string): string {
  return fold(word).replace(/’/gu, "'").trim();
}

/** Whether "about" means whoever speaks, and no name. */
export function meansSpeaker(about: string): boolean {
  return WORDS.has(spelt(about));
}
