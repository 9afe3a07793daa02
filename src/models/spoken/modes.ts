import { isMentioned, kindOf, LOOK_AHEAD, MARK_HERE, MAX_CLOSE_LENGTH, MESSAGE_END, unfinishedAt } from './marks.ts';
import { type ModeOf, OVER, restart, type State, say, saysMark } from './state.ts';

const MAX_CHANNEL_LENGTH = 200;

export function readReasoning(state: State, { close, held }: ModeOf<'reasoning'>): boolean {
  const { pending, isLast } = state;
  const match = close.exec(pending);
  if (match === null) {
    const kept = isLast ? pending.length : Math.max(0, pending.length - MAX_CLOSE_LENGTH);
    held?.push(pending.slice(0, kept));
    state.pending = pending.slice(kept);
    return false;
  }
  const [mark] = match;
  const end = match.index + mark.length;
  if (held !== null && !isLast && pending.length - end < LOOK_AHEAD.close) return false;
  const before = pending.slice(0, match.index);
  if (held !== null && isMentioned({ mark: '</think>', before, after: pending.slice(end), isFirst: false })) {
    return saysMark(state, `${held.join('')}${before}${mark}`, pending.slice(end));
  }
  state.found.push({ kind: 'reasoning' });
  // A mark that begins the next message of a channel is read again.
  const begins = close === MESSAGE_END && /start|channel/.test(mark);
  return restart(state, pending.slice(begins ? match.index : end));
}

export function readChannel(state: State): boolean {
  const { pending } = state;
  const head = /^([^<]{0,100})(?:<\|constrain\|>[^<]{0,40})?<\|message\|>/.exec(pending);
  if (head === null) {
    if (pending.length < MAX_CHANNEL_LENGTH) return false;
    return saysMark(state, '<|channel|>', pending);
  }
  const rest = pending.slice(head[0].length);
  const [, name = '', tool] = /^(\w*)(?: to=(?:functions\.)?([\w.-]+))?/.exec(head[1] ?? '') ?? [];
  restart(state, rest);
  if (tool !== undefined) state.mode = { kind: 'call', tool, input: [] };
  else if (name === 'analysis') state.mode = { kind: 'reasoning', close: MESSAGE_END, held: null };
  return true;
}

export function readCall(state: State, mode: ModeOf<'call'>): boolean {
  const { pending, isLast } = state;
  const match = MESSAGE_END.exec(pending);
  const kept = match?.index ?? (isLast ? pending.length : Math.max(0, pending.length - MAX_CLOSE_LENGTH));
  mode.input.push(pending.slice(0, kept));
  state.pending = pending.slice(kept);
  if (match === null) return false;
  callOf(state, mode);
  return restart(state, pending.slice(kept));
}

export function callOf({ found }: State, { tool, input }: ModeOf<'call'>): void {
  found.push({ kind: 'call', tool, input: input.join('').trim() });
}

export function readEnded(state: State, { held }: ModeOf<'ended'>): boolean {
  const rest = state.pending.trimStart();
  held.push(state.pending.slice(0, state.pending.length - rest.length));
  state.pending = rest;
  if (rest === '') return false;
  MARK_HERE.lastIndex = 0;
  const mark = MARK_HERE.exec(rest)?.[0];
  if (mark === undefined) {
    if (!state.isLast && unfinishedAt(rest) === 0) return false;
    return saysMark(state, held.join(''), rest);
  }
  if (kindOf(mark) === 'speaker') return nextTurn(state, { mark, rest: rest.slice(mark.length) });
  if (mark === '<|channel|>') return restart(state, rest);
  held.push(mark);
  state.pending = rest.slice(mark.length);
  return true;
}

/** Only a message of a channel belongs to the same answer. */
function nextTurn(state: State, { mark, rest }: { readonly mark: string; readonly rest: string }): boolean {
  if (mark !== '<|start|>') state.mode = OVER;
  else if (rest.length < LOOK_AHEAD.speaker && !state.isLast) return false;
  else if (/^assistant\b/.test(rest)) {
    say(state, '\n\n');
    restart(state, rest);
    state.isRoleNext = true;
  } else state.mode = OVER;
  return true;
}
