import { cleanText } from '../../../src/adapter-kit.ts';
import { speaker } from './style.ts';
import { createWrapper, type Wrapper, wrap } from './wrap.ts';

/** Where a terminal's texts go. Each method writes whole blocks in the order of the calls. */
export interface Screen {
  /** A finished text: a command's answer, a line of the demo. */
  block(text: string): void;
  /** Something about the session itself; kept apart from the conversation where output is piped. */
  notice(text: string): void;
  working(): void;
  /** The text of the running step so far. */
  draft(text: string): void;
  /** What the bot finally said; whatever a draft has shown of it is not shown again. */
  reply(text: string): void;
  /** The turn ended, with or without a reply. */
  idle(): void;
}

interface Output {
  write(text: string): unknown;
}

const BOT_NAME = 'Strata';
/** Between two looks at a draft. Each look reads all of it, and a model may write a character at a time. */
const PACE_MS = 25;

/** For pipes and files: finished blocks with a blank line between them, no drafts, no colour. */
export function createPlainScreen({
  output,
  errors,
  named,
}: {
  readonly output: Output;
  readonly errors: Output;
  /** Who says what is worth showing: several people talk. */
  readonly named: () => boolean;
}): Screen {
  let isFirst = true;
  const block = (text: string) => {
    output.write(`${isFirst ? '' : '\n'}${text}\n`);
    isFirst = false;
  };
  return {
    block,
    notice: (text) => errors.write(`${text}\n`),
    working: () => undefined,
    draft: () => undefined,
    idle: () => undefined,
    reply: (text) => block(named() ? `${speaker(BOT_NAME, { color: false })} ${cleanText(text)}` : cleanText(text)),
  };
}

/** What a live screen needs of the line editor below the conversation. */
export interface Prompt {
  /** Takes the line being typed off the screen, and stops showing keys. */
  hide(): void;
  /** Brings it back below what was written. */
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
  // A pseudo-terminal that nobody has given a size says 0.
  const columns = () => output.columns || 80;
  let stream: (DraftStream & { readonly wrapper: Wrapper }) | null = null;
  const label = `${speaker(BOT_NAME, { color })} `;

  /** What came while a reply grew: it stands below the reply. */
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

/** Passes the first text on at once, then the latest one at a pace. */
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
      // A shorter text begins another step: the end of the last one is shown too.
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
  /** What to write so that the draft stands on the screen. */
  grow(text: string): string;
  /** What is still missing of the final text. */
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
      // Another step of the same turn has begun.
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

/** What follows when all the pieces stand at the head of the text in order; null when they do not. */
function afterAll(pieces: readonly string[], text: string): string | null {
  let rest = text;
  for (const piece of pieces) {
    if (!rest.trimStart().startsWith(piece)) return null;
    rest = rest.trimStart().slice(piece.length);
  }
  return rest;
}

/** Without what may still change: white space at the ends, and the beginning of an escape sequence. */
function presentable(text: string): string {
  const start = text.lastIndexOf('\u001b');
  const settled = start !== -1 && start > text.length - 32 ? text.slice(0, start) : text;
  return cleanText(settled).trim();
}
