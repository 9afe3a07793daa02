import { cleanText, createWrapper, type Wrapper, wrap } from '../../../src/adapter-kit.ts';
import { speaker } from './style.ts';

/** The output of a terminal. Each method writes whole blocks, in the order of the calls. */
export interface Screen {
  /** Cells of a row; infinite for pipes and files, whose lines stay whole. */
  readonly width: number;
  /** A complete text: a command's answer, a line of the demo. */
  block(text: string): void;
  /** A notice about the session, separate from the conversation if output is piped. */
  notice(text: string): void;
  working(): void;
  /** The text of the running step so far. */
  draft(text: string): void;
  /** The final reply. What a draft has already shown is not repeated. */
  reply(text: string): void;
  /** The turn has ended, with or without a reply. */
  idle(): void;
}

interface Output {
  write(text: string): unknown;
}

const BOT_NAME = 'Strata';
/** Time between two reads of a draft. Each read costs its whole length, and a model may write single characters. */
const PACE_MS = 25;

/** For pipes and files: complete blocks with a blank line between them, no drafts, no colour. */
export function createPlainScreen({
  output,
  errors,
  named,
}: {
  readonly output: Output;
  readonly errors: Output;
  /** Several people talk, so the author's name is shown. */
  readonly named: () => boolean;
}): Screen {
  let isFirst = true;
  const block = (text: string) => {
    output.write(`${isFirst ? '' : '\n'}${text}\n`);
    isFirst = false;
  };
  return {
    width: Number.POSITIVE_INFINITY,
    block,
    notice: (text) => errors.write(`${text}\n`),
    working: () => undefined,
    draft: () => undefined,
    idle: () => undefined,
    reply: (text) => block(named() ? `${speaker(BOT_NAME, { color: false })} ${cleanText(text)}` : cleanText(text)),
  };
}

/** What a live screen needs from the line editor below the conversation. */
export interface Prompt {
  /** Clears the line being typed, and stops echoing keys. */
  hide(): void;
  /** Restores it below the new output. */
  show(): void;
  setBusy(busy: boolean): void;
}

/** For a terminal: text appears above the prompt, and drafts grow as the model writes. */
export function createLiveScreen(options: {
  readonly output: Output & { readonly columns?: number | undefined };
  readonly prompt: Prompt;
  readonly color: boolean;
}): Screen {
  const { output, prompt, color } = options;
  // A pseudo-terminal without a size reports 0.
  const columns = () => output.columns || 80;
  let stream: (DraftStream & { readonly wrapper: Wrapper }) | null = null;
  const label = `${speaker(BOT_NAME, { color })} `;

  /** What arrived while a reply grew is shown below the reply. */
  let waiting: readonly string[] = [];
  const endStream = () => {
    if (stream === null) return;
    output.write(`${stream.wrapper.end()}\n`);
    stream = null;
    prompt.show();
    const texts = waiting;
    waiting = [];
    for (const text of texts) above(text);
  };
  const above = (text: string) => {
    if (stream !== null) {
      waiting = [...waiting, text];
      return;
    }
    prompt.hide();
    output.write(`${wrap(text, columns())}\n`);
    prompt.show();
  };

  const grow = (text: string) => {
    const shown = presentable(text);
    if (shown === '') return;
    if (stream === null) {
      prompt.hide();
      const wrapper = createWrapper(columns);
      output.write(wrapper.write(label));
      stream = { ...createDraftStream(), wrapper };
    }
    output.write(stream.wrapper.write(stream.grow(shown)));
  };
  const drafts = createPace(grow);

  return {
    get width() {
      return columns();
    },
    block: above,
    notice: above,
    working: () => prompt.setBusy(true),
    idle() {
      drafts.end();
      endStream();
      prompt.setBusy(false);
    },
    draft: drafts.show,
    reply(text) {
      drafts.end();
      const final = cleanText(text);
      if (stream === null) return above(label + final);
      output.write(stream.wrapper.write(stream.finish(final)));
      endStream();
    },
  };
}

/** Passes on the first text at once, then the latest one at intervals. */
function createPace(pass: (text: string) => void) {
  let latest: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  const passLatest = () => {
    timer = null;
    if (latest === null) return;
    pass(latest);
    latest = null;
    timer = setTimeout(passLatest, PACE_MS).unref();
  };
  return {
    show(text: string) {
      // A shorter text starts another step; the end of the previous one is shown too.
      if (latest !== null && text.length < latest.length) pass(latest);
      latest = text;
      if (timer === null) passLatest();
    },
    end() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      latest = null;
    },
  };
}

interface DraftStream {
  /** What to write so that the screen shows the draft. */
  grow(text: string): string;
  /** What is missing of the final text. */
  finish(text: string): string;
}

function createDraftStream(): DraftStream {
  const earlier: string[] = [];
  let current = '';
  return {
    grow(text) {
      if (text.startsWith(current)) {
        const added = text.slice(current.length);
        current = text;
        return added;
      }
      // Another step of the same turn has started.
      earlier.push(current);
      current = text;
      return `\n${text}`;
    },
    finish(text) {
      if (text.startsWith(current)) return text.slice(current.length);
      const rest = afterAll([...earlier, current], text);
      return rest ?? `\n${text}`;
    },
  };
}

/** What follows if the text starts with all the pieces in order; otherwise null. */
function afterAll(pieces: readonly string[], text: string): string | null {
  let rest = text;
  for (const piece of pieces) {
    if (!rest.trimStart().startsWith(piece)) return null;
    rest = rest.trimStart().slice(piece.length);
  }
  return rest;
}

/** Without what may still change: white space at the ends, and the start of an escape sequence. */
function presentable(text: string): string {
  const start = text.lastIndexOf('\u001b');
  const settled = start !== -1 && start > text.length - 32 ? text.slice(0, start) : text;
  return cleanText(settled).trim();
}
