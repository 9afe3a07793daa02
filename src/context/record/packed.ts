/**
 * Small numbers as text: six bits per character, of which one says that the number goes on. Contains no separator, so
 * fields can be joined with any other character.
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES = new Map([...ALPHABET].map((character, value) => [character, value]));
const BASE = 32;

/** Takes whole numbers; a negative one counts as 0. */
export function pack(numbers: readonly number[]): string {
  return numbers.map(packOne).join('');
}

function packOne(number: number): string {
  let text = '';
  let left = Math.max(0, number);
  for (; left >= BASE; left = Math.floor(left / BASE)) text += ALPHABET.charAt(BASE + (left % BASE));
  return text + ALPHABET.charAt(left);
}

/** Characters that `pack` does not write are skipped. */
export function unpack(text: string): readonly number[] {
  const numbers: number[] = [];
  let [sum, factor] = [0, 1];
  for (const character of text) {
    const value = VALUES.get(character);
    if (value === undefined) continue;
    sum += (value % BASE) * factor;
    factor *= BASE;
    if (value >= BASE) continue;
    numbers.push(sum);
    [sum, factor] = [0, 1];
  }
  return numbers;
}

/** Ascending numbers take less room as distances. */
export function packAscending(numbers: readonly number[]): string {
  return pack(numbers.map((number, index) => number - (numbers[index - 1] ?? 0)));
}

export function unpackAscending(text: string): readonly number[] {
  let sum = 0;
  return unpack(text).map((distance) => {
    sum += distance;
    return sum;
  });
}
