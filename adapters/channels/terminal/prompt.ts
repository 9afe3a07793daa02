import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import { PassThrough, type Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { cleanText } from '../../../src/adapter-kit.ts';
import { createPasteReader, PASTE_OFF, PASTE_ON, type Typed } from './paste.ts';
import type { Prompt } from './screen.ts';

export interface PromptOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** The longest text that can be pasted, in characters. */
  readonly maxLength: number;
  /** Whole lines that continue the typed one. */
  complete(line: string): Promise<readonly string[]>;
  /** A line was entered; a pasted one may contain line breaks. */
  onLine(line: string): void;
  onTooLong(): void;
  /** Input ended: Ctrl-D, Ctrl-C on an empty line, or the terminal disappeared. */
  onClose(): void;
}

const READY = '> ';
const BUSY = '… ';
const HISTORY = 200;
/** Replaces a line break in the edited line, because the editor supports only one row; shown as `⏎`. */
const LINE_BREAK = '\ue00a';
/** The rest of a terminal's mark follows its start within this time; the escape key has no rest. */
const HELD_MS = 50;

/** The line editor: history, completion, pastes, and a prompt that moves below new output. */
export function createPrompt(options: PromptOptions): Prompt & { close(): void } {
  const gate = createGate(options.output);
  const keys = createKeys(options.input);
  const editor = createInterface({
    input: keys,
    output: gate.stream,
    terminal: true,
    historySize: HISTORY,
    prompt: READY,
    completer: (line: string, done: (error: null, result: [string[], string]) => void) => complete(options, line, done),
  });
  let isClosed = false;
  /** Entered while output was written: shown when the prompt returns. */
  let unseen: readonly string[] = [];
  const stopReading = readKeys(options, keys, (text) => insert(editor, text));

  editor.on('line', (line) => {
    if (gate.shut) unseen = [...unseen, line];
    options.onLine(line.replaceAll(LINE_BREAK, '\n'));
    if (!isClosed) editor.prompt();
  });
  editor.on('SIGINT', () => (editor.line === '' ? editor.close() : replaceLine(editor, { line: '', cursor: 0 })));
  editor.on('close', () => {
    isClosed = true;
    stopReading();
    options.output.write(PASTE_OFF);
    options.onClose();
  });
  options.output.write(PASTE_ON);
  editor.prompt();

  return {
    hide() {
      if (!isClosed && !gate.shut) eraseLine(editor, options.output);
      gate.shut = true;
    },
    show() {
      gate.shut = false;
      for (const line of unseen) gate.stream.write(`${READY}${line}\n`);
      unseen = [];
      if (!isClosed) editor.prompt(true);
    },
    setBusy(busy) {
      editor.setPrompt(busy ? BUSY : READY);
      if (!isClosed && !gate.shut) editor.prompt(true);
    },
    close() {
      gate.shut = false;
      if (!isClosed) editor.close();
    },
  };
}

/** The editor reads this instead of the terminal itself. */
function createKeys(input: Readable): PassThrough {
  const keys = new PassThrough();
  if (!('setRawMode' in input) || typeof input.setRawMode !== 'function') return keys;
  const { setRawMode } = input;
  return Object.assign(keys, { setRawMode: (mode: boolean) => setRawMode.call(input, mode) });
}

/** Passes keys to the editor and pastes to `onPaste`, in typing order. Returns a function that stops it. */
function readKeys(options: PromptOptions, keys: PassThrough, onPaste: (text: string) => void): () => void {
  const { input } = options;
  const reader = createPasteReader({ maxLength: options.maxLength });
  let held: NodeJS.Timeout | undefined;
  let work = Promise.resolve();
  const take = async (typed: Typed): Promise<void> => {
    if (typed.kind === 'keys') return void keys.write(typed.text);
    // Earlier keys reach the editor first.
    await setImmediate();
    if (typed.kind === 'paste') onPaste(cleanText(typed.text).trimEnd().replaceAll('\n', LINE_BREAK));
    else options.onTooLong();
  };
  const takeAll = (all: readonly Typed[]): void => {
    for (const typed of all) work = work.then(() => take(typed));
  };
  const onData = (chunk: Buffer | string): void => {
    clearTimeout(held);
    takeAll(reader.read(chunk));
    held = setTimeout(() => takeAll(reader.flush()), HELD_MS);
  };
  const onEnd = (): void => {
    clearTimeout(held);
    takeAll(reader.flush());
    work.then(() => keys.end()).catch(() => undefined);
  };
  input.on('data', onData).on('end', onEnd).on('error', onEnd);
  return () => {
    clearTimeout(held);
    input.off('data', onData).off('end', onEnd);
    input.pause();
  };
}

function insert(editor: Interface, text: string): void {
  const { line, cursor } = editor;
  replaceLine(editor, { line: line.slice(0, cursor) + text + line.slice(cursor), cursor: cursor + text.length });
}

function replaceLine(editor: Interface, value: { readonly line: string; readonly cursor: number }): void {
  Object.assign(editor, value);
  editor.prompt(true);
}

function complete(options: PromptOptions, line: string, done: (error: null, result: [string[], string]) => void): void {
  options.complete(line).then(
    (lines) => done(null, [[...lines], line]),
    () => done(null, [[], line]),
  );
}

/** Clears the prompt and the typed text, however many rows they fill. */
function eraseLine(editor: Interface, output: Writable): void {
  const { rows } = editor.getCursorPos();
  moveCursor(output, 0, -rows);
  cursorTo(output, 0);
  clearScreenDown(output);
  // How many rows the editor moves up when it redraws its line.
  Object.assign(editor, { prevRows: 0 });
}

/** Passes the editor's echo through while open. Keys typed while it is shut stay in the editor and are shown later. */
function createGate(output: Writable): { readonly stream: Writable; shut: boolean } {
  const gate = {
    shut: false,
    stream: new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        if (!gate.shut) output.write(String(chunk).replaceAll(LINE_BREAK, '⏎'));
        done();
      },
    }),
  };
  Object.defineProperty(gate.stream, 'columns', { get: () => columnsOf(output) });
  output.on('resize', () => gate.stream.emit('resize'));
  return gate;
}

function columnsOf(output: Writable): number {
  return 'columns' in output && typeof output.columns === 'number' ? output.columns : 80;
}
