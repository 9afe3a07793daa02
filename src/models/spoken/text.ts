import { closeOf, isMentioned, kindOf, LOOK_AHEAD, NEXT, type Place, ROLE_HERE, unfinishedAt } from './marks.ts';
import { OVER, type State, say } from './state.ts';

/** Reads what is said, up to a mark that is not part of it. */
export function readText(state: State): boolean {
  const opening = state.isFirst ? readOpening(state) : 'none';
  if (opening !== 'none') return opening === 'read';
  const { pending, isLast } = state;
  let said = 0;
  NEXT.lastIndex = 0;
  for (let match = NEXT.exec(pending); match !== null; match = NEXT.exec(pending)) {
    const [found] = match;
    const end = match.index + found.length;
    const isRun = found.startsWith('`') || found.startsWith('~');
    const needed = found === '\n' ? 0 : isRun ? 1 : LOOK_AHEAD[kindOf(found)];
    say(state, pending.slice(said, match.index));
    said = match.index;
    if (!isLast && pending.length - end < needed) {
      state.pending = pending.slice(said);
      return false;
    }
    const after = pending.slice(end, end + LOOK_AHEAD.speaker);
    if (found === '\n') state.code.line();
    else if (isRun) state.code.run(found, state.before, after);
    else if (takeMark(state, { mark: found, before: state.before, after, isFirst: state.isFirst })) {
      state.pending = pending.slice(end);
      return true;
    }
    say(state, found);
    said = end;
  }
  const kept = isLast ? pending.length : Math.max(said, unfinishedAt(pending));
  say(state, pending.slice(said, kept));
  state.pending = pending.slice(kept);
  return false;
}

const BARE_ANALYSIS = /^analysis(?=\p{Lu})/u;
const BARE_CLOSE = /assistantfinal/;
const LONGEST_OPENING = 'assistant\r\n';

/** The role that a template names before an answer, where a server has removed only the tokens around it. */
function readOpening(state: State): 'read' | 'wait' | 'none' {
  const { pending, isLast, isRoleNext } = state;
  const text = pending.trimStart();
  if (BARE_ANALYSIS.test(text)) {
    state.mode = { kind: 'reasoning', close: BARE_CLOSE, held: ['analysis'] };
    state.pending = text.slice('analysis'.length);
    return 'read';
  }
  const role = isRoleNext ? ROLE_HERE.exec(text)?.[0] : /^assistant(?=\r?\n)/.exec(text)?.[0];
  if (role !== undefined) {
    state.isRoleNext = false;
    state.pending = text.slice(role.length);
    return 'read';
  }
  const isShort = text.length < LONGEST_OPENING.length && /^[a-z]+\r?$/.test(text);
  const mayBe = isRoleNext || LONGEST_OPENING.startsWith(text) || 'analysis'.startsWith(text);
  return !isLast && isShort && mayBe ? 'wait' : 'none';
}

/** False if the mark is part of the text. */
function takeMark(state: State, place: Place): boolean {
  const { mark, isFirst } = place;
  if (state.code.isOpen || isStrike(state, mark)) return false;
  const kind = kindOf(mark);
  const isText = state.isAboutMarks || (kind === 'channel' ? !isFirst : isMentioned(place));
  if (kind === 'open') return openReasoning(state, place, isText);
  if (isText) {
    state.isAboutMarks = true;
    return false;
  }
  if (kind === 'close') {
    state.found.push({ kind: isFirst ? 'reasoning' : 'unopened' });
    state.isFirst = true;
    state.before = '\n';
  } else if (kind === 'channel') state.mode = { kind: 'channel' };
  else if (isFirst) state.isRoleNext = kind === 'speaker';
  else state.mode = kind === 'speaker' ? OVER : { kind: 'ended', held: [mark] };
  return true;
}

/** A mention at the beginning cannot be told from reasoning before its end. */
function openReasoning(state: State, { mark, isFirst }: Place, isText: boolean): boolean {
  if (isText && !isFirst) {
    state.isAboutMarks = true;
    return false;
  }
  const held = isText || !isFirst ? [mark] : null;
  state.mode = { kind: 'reasoning', close: closeOf(mark), held };
  return true;
}

function isStrike(state: State, mark: string): boolean {
  if (mark === '<s>') state.strikes += 1;
  else if (mark === '</s>' && state.strikes > 0) state.strikes -= 1;
  else return false;
  return true;
}
