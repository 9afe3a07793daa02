import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import headless from '@xterm/headless';
import { type Frame, renderSvg, screenOf } from './terminal-svg.ts';

/** Runs the bot in its own terminal, types a short conversation, and writes the screen to docs/images/demo.svg. */

const root = join(import.meta.dirname, '..');
const COLUMNS = 100;
const ROWS = 30;

interface Step {
  readonly type: string;
  /** How long to watch the screen after the Enter key, with a frame for each interval. */
  readonly watchMs: number;
}

const steps: readonly Step[] = [
  { type: 'Hi, my name is Ada and I prefer tea.', watchMs: 2500 },
  { type: '/demo', watchMs: 24_000 },
  { type: 'Who is allergic to something?', watchMs: 3000 },
  { type: '/summaries', watchMs: 4000 },
  { type: '/status', watchMs: 5000 },
];
const FRAME_MS = 1500;
const START_MS = 3000;

async function record(): Promise<readonly Frame[]> {
  const terminal = new headless.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  const folder = mkdtempSync(join(tmpdir(), 'strata-demo-'));
  const command = `stty cols ${COLUMNS} rows ${ROWS}; ${process.execPath} ${join(root, 'src/main.ts')} start`;
  const env = {
    PATH: process.env['PATH'] ?? '',
    TERM: 'xterm-256color',
    USER: 'Ada',
    OLLAMA_HOST: 'http://127.0.0.1:9',
  };
  const child = spawn('script', ['-qefc', command, '/dev/null'], { cwd: folder, env });
  child.stdout.on('data', (chunk: Buffer) => terminal.write(chunk));
  const frames: Frame[] = [];
  const show = async (durationMs: number): Promise<void> => {
    await new Promise<void>((resolve) => terminal.write('', resolve));
    frames.push({ durationMs, rows: screenOf(terminal) });
  };
  await sleep(START_MS);
  for (const { type, watchMs } of steps) {
    child.stdin.write(type);
    await sleep(300);
    await show(1000);
    child.stdin.write('\r');
    for (let watchedMs = 0; watchedMs < watchMs; watchedMs += FRAME_MS) {
      await sleep(FRAME_MS);
      await show(FRAME_MS);
    }
  }
  child.stdin.write('/quit\r');
  await new Promise((resolve) => child.once('close', resolve));
  rmSync(folder, { recursive: true, force: true });
  return frames;
}

writeFileSync(join(root, 'docs/images/demo.svg'), renderSvg(await record(), { columns: COLUMNS, rows: ROWS }));
