import { createCodeMarks } from './code-marks.ts';

/** A part of an answer, without the marks of chat templates. */
export type Spoken =
  | { readonly kind: 'text'; readonly text: string }
  /** Reasoning was left out. */
  | { readonly kind: 'reasoning' }
  /** All text before was reasoning: its end tag came without a start. */
  | { readonly kind: 'unopened' }
  | { readonly kind: 'call'; readonly tool: string; readonly input: string };

export type Mode =
  | { readonly kind: 'text' }
  /** Until `close`. `held` is the text if it may turn out to be the answer. */
  | { readonly kind: 'reasoning'; readonly close: RegExp; readonly held: string[] | null }
  /** Between `<|channel|>` and `<|message|>`. */
  | { readonly kind: 'channel' }
  | { readonly kind: 'call'; readonly tool: string; readonly input: string[] }
  /** After a mark that ends the turn, if nothing follows. */
  | { readonly kind: 'ended'; readonly held: string[] }
  /** The model has gone on with somebody else's turn. */
  | { readonly kind: 'over' };

export type ModeOf<Kind extends Mode['kind']> = Extract<Mode, { kind: Kind }>;

export interface State {
  mode: Mode;
  /** Read, but not decided yet. */
  pending: string;
  isLast: boolean;
  /** What was said last; a line break before the first word. */
  before: string;
  /** Nothing but blanks was said so far. */
  isFirst: boolean;
  /** The role may follow. */
  isRoleNext: boolean;
  /** The answer talks about marks, so none of them is taken out any more. */
  isAboutMarks: boolean;
  /** Open `<s>`, which strike text out in HTML. */
  strikes: number;
  readonly code: ReturnType<typeof createCodeMarks>;
  readonly found: Spoken[];
}

const TEXT: Mode = { kind: 'text' };
export const OVER: Mode = { kind: 'over' };
const KEPT_BEFORE = 32;

export function createState(): State {
  return {
    mode: TEXT,
    pending: '',
    before: '\n',
    isLast: false,
    isFirst: true,
    isRoleNext: false,
    isAboutMarks: false,
    strikes: 0,
    code: createCodeMarks(),
    found: [],
  };
}

export function say(state: State, text: string): void {
  if (text === '') return;
  state.found.push({ kind: 'text', text });
  state.before = (state.before + text).slice(-KEPT_BEFORE);
  if (text.trim() === '') return;
  state.isFirst = false;
  state.isRoleNext = false;
}

/** The rest is the beginning of an answer again. */
export function restart(state: State, rest: string): true {
  Object.assign(state, { mode: TEXT, pending: rest, isFirst: true, before: '\n' });
  return true;
}

/** What looked like a mark is text, and so are all later ones. */
export function saysMark(state: State, text: string, rest: string): true {
  Object.assign(state, { mode: TEXT, pending: rest, isAboutMarks: true });
  say(state, text);
  return true;
}
