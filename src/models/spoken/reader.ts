import { callOf, readCall, readChannel, readEnded, readReasoning } from './modes.ts';
import { createState, type Spoken, type State, say } from './state.ts';
import { readText } from './text.ts';

export type { Spoken } from './state.ts';

/** Takes an answer piece by piece. */
export interface SpokenReader {
  text(piece: string): readonly Spoken[];
  /** `isWhole` unless the answer was cut off. */
  end(isWhole: boolean): readonly Spoken[];
}

/**
 * Takes what chat templates add out of an answer: reasoning, tokens around turns, and turns that the model has made up for
 * others. A mark in code, or one that the answer mentions, is text. Reads each character a fixed number of times.
 */
export function createSpokenReader(): SpokenReader {
  const state = createState();
  const run = () => {
    while (read(state));
    return merged(state.found.splice(0));
  };
  return {
    text(piece) {
      state.pending += piece;
      return run();
    },
    end(isWhole) {
      state.isLast = true;
      const found = run();
      finish(state, isWhole);
      return merged([...found, ...state.found.splice(0)]);
    },
  };
}

/** The whole of a text, as if an answer had contained it. */
export function spokenText(text: string): string {
  const reader = createSpokenReader();
  let spoken = '';
  for (const part of [...reader.text(text), ...reader.end(true)]) {
    if (part.kind === 'text') spoken += part.text;
    if (part.kind === 'unopened') spoken = '';
  }
  return spoken;
}

function merged(found: readonly Spoken[]): readonly Spoken[] {
  const parts: Spoken[] = [];
  let text: string[] = [];
  const flush = () => {
    if (text.length > 0) parts.push({ kind: 'text', text: text.join('') });
    text = [];
  };
  for (const part of found) {
    if (part.kind === 'text') text.push(part.text);
    else {
      flush();
      parts.push(part);
    }
  }
  flush();
  return parts;
}

/** True if there may be more to read. */
function read(state: State): boolean {
  switch (state.mode.kind) {
    case 'text':
      return readText(state);
    case 'reasoning':
      return readReasoning(state, state.mode);
    case 'channel':
      return readChannel(state);
    case 'call':
      return readCall(state, state.mode);
    case 'ended':
      return readEnded(state, state.mode);
    case 'over':
      state.pending = '';
      return false;
    default:
      return state.mode satisfies never;
  }
}

function finish(state: State, isWhole: boolean): void {
  const { mode } = state;
  if (mode.kind === 'reasoning') {
    if (mode.held === null || !isWhole) state.found.push({ kind: 'reasoning' });
    else say(state, mode.held.join(''));
  }
  if (mode.kind === 'channel') say(state, '<|channel|>');
  if (mode.kind === 'call' && isWhole) callOf(state, mode);
  if (mode.kind !== 'over') say(state, state.pending);
}
