import type { Voice } from './voice.ts';
import { chinese } from './voice-chinese.ts';
import { english } from './voice-english.ts';
import { german } from './voice-german.ts';

const germanWords =
  /(?<!\p{L})(?:ich|nicht|und|ist|das|wir|mein|meine|dir|mich|mir|wie|wer|wo|wann|bitte|danke|hallo|guten|heiße|mag|habe|haben|kannst|weißt|für|auch)(?!\p{L})/giu;

/** The voice for a message: in its language if it is supported, otherwise English. */
export function voiceFor(message: string): Voice {
  const han = message.match(/\p{Script=Han}/gu)?.length ?? 0;
  if (han >= 2 && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(message)) return chinese;
  const germanCount = message.match(germanWords)?.length ?? 0;
  const words = message.match(/\p{L}+/gu)?.length ?? 0;
  return germanCount > 0 && germanCount * 4 >= words ? german : english;
}
