import type { TextOutput } from './cli.ts';

/** Shows a progress bar in a terminal, and nothing elsewhere. */
export interface Progress {
  step(): void;
  /** Clears the bar from the line before other output. */
  clear(): void;
}

const WIDTH = 24;

export function createProgress(output: TextOutput, total: number): Progress {
  let done = 0;
  let isShown = false;
  if (output.isTTY !== true || total === 0) return { step: () => undefined, clear: () => undefined };
  const clear = () => {
    if (isShown) output.write('\r\u001b[K');
    isShown = false;
  };
  return {
    step() {
      done += 1;
      const share = Math.min(1, done / total);
      const bar = '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░');
      output.write(`\r[${bar}] ${Math.floor(share * 100)} % ${done}/${total}`);
      isShown = true;
    },
    clear,
  };
}
