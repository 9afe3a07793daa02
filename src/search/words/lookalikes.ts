import { normalForm } from '../../util/text/normal-form.ts';
import { isAscii } from './words.ts';

/** Letters of other alphabets that look like Latin ones, each with its Latin counterpart. */
const LOOKALIKES = mapOf(
  'аa еe оo рp сc уy хx кk мm тt іi јj ѕs ԁd һh ԛq ԝw ѵv ԍg вb нh ьb ƅb αa οo ρp νv ιi κk τt υu εe χx γy ηn ωw βb ζz ɑa ɡg ıi łl øo đd',
);
/** Small letters in the shape of capitals, and letters of scripts that few people read. */
const RARE = mapOf(
  'ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ꞯq ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz օo սu ոn հh զq ցg ꭺa ꮃw ꭰd ꭱe ꮋh ꭻj ꮶk ꮮl ꮇm ꮲp ꮪs ꭲt ꮩv ꮓz',
);
/** Capitals that look like another Latin letter than their small forms do. */
const CAPITALS = mapOf('ΗH ΝN ΥY');
const INNER_I = /(?<=\p{Ll})I|(?<=\p{L})I(?=\p{Ll})/gu;

/** Decorate letters, or have no width. The two marks of Japanese make other letters. */
const DECORATION = /[[[\p{M}&&\p{sc=Inherited}]\p{Cf}\p{Default_Ignorable_Code_Point}]--[\u3099\u309a]]/gv;

function mapOf(pairs: string): ReadonlyMap<string, string> {
  return new Map(pairs.split(' ').map((pair) => [pair.slice(0, -1), pair.slice(-1)]));
}

/** A folded text with lookalikes replaced by Latin letters. */
export function latin(text: string): string {
  return text.replace(/[^ -~]/gu, (letter) => LOOKALIKES.get(letter) ?? RARE.get(letter) ?? letter);
}

/** A text as written, with the capitals whose small forms look different: the Greek one in "Ηans", the I in "AIice". */
export function latinCapitals(text: string): string {
  return text.replace(/[ΗΝΥ]/gu, (letter) => CAPITALS.get(letter) ?? letter).replace(INNER_I, 'l');
}

/** The letters of a text without accents, enclosing marks, joiners and other characters without a width. */
export function undecorated(text: string): string {
  return isAscii(text) ? text : normalForm(text, 'NFD').replace(DECORATION, '').normalize('NFC');
}
