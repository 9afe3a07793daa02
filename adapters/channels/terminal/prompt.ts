import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import type { Prompt } from './screen.ts';

export interface PromptOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Completions of the line typed so far. */
  complete(line: string): readonly string[];
  onLine(line: string): void;
  /** Input ended: Ctrl-D, Ctrl-C or the terminal went away. */
  onClose(): void;
}

const READY = '> ';
const BUSY = '… ';
const HISTORY = 200;

/** The line editor: history, completion, and a prompt that makes room for what is written above it. */
export function createPrompt(options: PromptOptions): Prompt & { close(): void } {
  const gate = createGate(options.output);
  const editor = createInterface({
    input: options.input,
    output: gate.stream,
    terminal: true,
    historySize: HISTORY,
    prompt: READY,
    completer: (line: string) => [options.complete(line), line],
  });
  let isClosed = false;
  editor.on('line', (line) => {
    options.onLine(line);
    if (!isClosed) editor.prompt();
  });
  editor.on('SIGINT', () => editor.close());
  editor.on('close', () => {
    isClosed = true;
    options.onClose();
  });
  editor.prompt();

  return {
    hide() {
      if (!isClosed && !gate.shut) eraseLine(editor, options.output);
      gate.shut = true;
    },
    show() {
      gate.shut = false;
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

/** Takes prompt and typed text off the screen, however many rows they fill. */
function eraseLine(editor: Interface, output: Writable): void {
  const { rows } = editor.getCursorPos();
  moveCursor(output, 0, -rows);
  cursorTo(output, 0);
  clearScreenDown(output);
}

/** Passes the editor's echo through while open; keys typed while it is shut are kept by the editor and shown later. */
function createGate(output: Writable): { readonly stream: Writable; shut: boolean } {
  const gate = {
    shut: false,
    stream: new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        if (!gate.shut) output.write(chunk);
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
