/** Letters of other alphabets that look like Latin ones, each with its Latin counterpart. */
const LOOKALIKES = new Map(
  'аa еe оo рp сc уy хx кk мm тt іi јj ѕs ԁd һh ԛq ԝw ѵv ԍg αa οo ρp νv ιi κk τt υu εe χx γy ηn ωw ɑa ɡg ıi łl øo đd'
    .split(' ')
    .map((pair) => [pair.slice(0, -1), pair.slice(-1)] as const),
);

/** A folded text with lookalikes replaced by Latin letters. */
export function latin(text: string): string {
  return text.replace(/[^ -~]/gu, (letter) => LOOKALIKES.get(letter) ?? letter);
}
