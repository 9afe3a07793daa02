/** The marks of chat templates that servers let through into answers. */

/** Every mark that is looked for: reasoning tags, special tokens, and the tokens of older templates. */
const NAMED = String.raw`think|thinking|reasoning|thought|seed:think|s|start_of_turn|end_of_turn|bos|eos|turn\||\|turn|\|channel|channel\|`;
const MARK = String.raw`<\/?(?:${NAMED})>|<\|\/?[A-Za-z]\w{0,40}\|>|<｜[^\s<>｜]{1,40}｜>|\[\/?(?:INST|THINK)\]|◁\/?think▷`;

/** What the reader stops at: a line break, a run of code marks, or a mark. */
export const NEXT = new RegExp(String.raw`\n|\x60{1,16}|~{3,16}|(?:${MARK})`, 'g');
export const MARK_HERE = new RegExp(MARK, 'y');
/** At the end of a piece: the beginning of what the next piece may complete. */
const UNFINISHED = /(?:<[|｜]?\/?[^\s<>|｜]{0,40}[|｜]?|\[\/?[A-Z]{0,5}|◁\/?[a-z]{0,5}|~{1,2})$/;

const TAIL = 48;

/** Where the next piece may complete a mark. */
export function unfinishedAt(text: string): number {
  const from = Math.max(0, text.length - TAIL);
  const found = UNFINISHED.exec(text.slice(from));
  return found === null ? text.length : from + found.index;
}

/** Tags around reasoning. Those that are also ordinary words only count at the beginning of an answer. */
const PAIRS: ReadonlyMap<string, RegExp> = new Map([
  ['<think>', /<\/think>/],
  ['<thinking>', /<\/thinking>/],
  ['<reasoning>', /<\/reasoning>/],
  ['<thought>', /<\/thought>/],
  ['<seed:think>', /<\/seed:think>/],
  ['[THINK]', /\[\/THINK\]/],
  ['◁think▷', /◁\/think▷/],
  ['<|START_THINKING|>', /<\|END_THINKING\|>/],
  ['<|begin_of_thought|>', /<\|end_of_thought\|>/],
  ['<|channel>', /<channel\|>/],
]);
const ANYWHERE: ReadonlySet<string> = new Set(['<think>', '◁think▷', '<|START_THINKING|>', '<|begin_of_thought|>']);
/** No end tag is longer. */
export const MAX_CLOSE_LENGTH = 20;
/** An end tag without its start: the template has put the start into the prompt. */
const UNOPENED = /^(?:<\/(?:think|thinking|reasoning|seed:think)>|\[\/THINK\]|◁\/think▷)$/;

const SPEAKERS =
  /^(?:<\|(?:im_start|start_header_id|header_start|start_of_role|start|user|assistant|system|observation|begin_of_text|START_OF_TURN_TOKEN)\|>|<\|turn>|<start_of_turn>|<｜(?:User|Assistant)｜>|\[INST\])$/;
const NAMES_ITSELF = /^(?:<\|(?:user|assistant|system|observation)\|>|<｜)/;
const ROLE = /^(?:user|assistant|system|model|tool|human|developer)(?=\s|<|$)/;

/** Follow the start of a turn: the role, and the mark after it. */
export const ROLE_HERE = /^(?:user|assistant|system|model|tool|developer)(?=\s|<|:)(?::(?=\s))?/;

/** Ends a message of a channel. */
export const MESSAGE_END = /<\|(?:end|call|return|start|channel)\|>/;

/** Characters after a mark that decide what it is. */
export const LOOK_AHEAD = { open: 3, close: 3, channel: 0, speaker: 11, end: 3 } as const;

export type Mark = 'open' | 'close' | 'channel' | 'speaker' | 'end';

export function kindOf(mark: string): Mark {
  if (PAIRS.has(mark)) return 'open';
  if (UNOPENED.test(mark)) return 'close';
  if (mark === '<|channel|>') return 'channel';
  return SPEAKERS.test(mark) ? 'speaker' : 'end';
}

export function closeOf(mark: string): RegExp {
  return PAIRS.get(mark) ?? /(?!)/;
}

/** Where a mark was found. */
export interface Place {
  readonly mark: string;
  /** The text before it, from its last few characters, and the beginning of the text after it. */
  readonly before: string;
  readonly after: string;
  /** Nothing was said before. */
  readonly isFirst: boolean;
}

/** A sentence goes on after the mark. */
const GOES_ON = /^ {0,2}[,.;:!?)\]}"'”’»…=]|^ {1,2}[\p{Ll}\p{Lo}\p{N}(—–-]/u;
/** A sentence leads to the mark. */
const LEADS_TO = /[\p{L}\p{N},(=—–-][^\S\n]{1,8}$|:\s{0,8}$/u;
const QUOTED = /["'“‘«(]$/u;

/** The answer talks about the mark, or may do so. */
export function isMentioned({ mark, before, after, isFirst }: Place): boolean {
  switch (kindOf(mark)) {
    case 'open':
      if (!isFirst && !ANYWHERE.has(mark)) return true;
      if (/^(?:\n|\p{L})/u.test(after)) return QUOTED.test(before);
      return GOES_ON.test(after) || (!isFirst && LEADS_TO.test(before));
    case 'close':
      if (after === '' || after.startsWith('\n') || /\n *$/.test(before)) return false;
      return GOES_ON.test(after) || LEADS_TO.test(before);
    case 'speaker':
      return isFirst ? GOES_ON.test(after) : !startsTurn(mark, before, after);
    default:
      return isFirst ? GOES_ON.test(after) : LEADS_TO.test(before);
  }
}

function startsTurn(mark: string, before: string, after: string): boolean {
  return /\n *$/.test(before) && (NAMES_ITSELF.test(mark) ? /^\s/.test(after) : ROLE.test(after));
}
