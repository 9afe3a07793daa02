/** The messages of people in the harness: every message has a unique name, and every third one states a unique fact. */
export interface Said {
  readonly name: string;
  /** The number of the conversation. */
  readonly place: number;
  readonly text: string;
}

const NAME = /\bc(\d+)m\d+\b/gu;
const FACT = /My parcel (\d+) is at the post office\./gu;
const MAX_MESSAGES = 100_000;
const FACT_EVERY = 3;
const FILLER = 'So it goes on and on here. ';

/** `number` counts within the place: at most one in two messages has a remembered fact. */
export function sayingOf(place: number, number: number): Said {
  const name = `c${place}m${number}`;
  const fact = number % FACT_EVERY === 0 ? `${factOf(place, number)} ` : '';
  return { name, place, text: `${name} ${fact}${FILLER.repeat(6 + (number % 5))}`.trim() };
}

function factOf(place: number, number: number): string {
  return `My parcel ${place * MAX_MESSAGES + number} is at the post office.`;
}

/** The names of all messages in the text. */
export function namesIn(text: string): readonly { readonly name: string; readonly place: number }[] {
  return [...text.matchAll(NAME)].map(([name, place]) => ({ name, place: Number(place) }));
}

export function factsIn(text: string): readonly { readonly text: string; readonly place: number }[] {
  return [...text.matchAll(FACT)].map(([fact, number]) => ({
    text: fact,
    place: Math.floor(Number(number) / MAX_MESSAGES),
  }));
}
