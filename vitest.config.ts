import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { RELATIVE_IMPORTS } from './test/support/relative-imports.ts';
import { seedOfTests } from './test/support/seed.ts';
import { SIZED_TAG } from './test/support/size.ts';
import { sizedFiles } from './test/support/sized-files.ts';
import { createSkippedReporter } from './test/support/skipped-reporter.ts';

// Node strips types and compiles once for all processes of the tests, and again only what has changed.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/strata-tests');

const env = { SIZED_TAG, TEST_SEED: seedOfTests() };

/** The files whose tests mostly wait: for processes, sockets and timers. */
const WAITING = [
  'test/*.test.ts',
  'test/{e2e,faults}/**/*.test.ts',
  'test/adapters/{discord,queues,slack,terminal}/*.test.ts',
  'test/adapters/channels/discord-slack-odd.test.ts',
  'test/adapters/stores/{postgres,sqlite-busy,sqlite-shared}*.test.ts',
  'test/attacks/{bytes-processes,files,slack-http}.test.ts',
];

/** Of these, the files that wait longest and work least. */
const WAITING_LONGEST = ['discord/answers', 'slack/answers', 'slack/connection', 'slack/post'].map(
  (name) => `test/adapters/${name}.test.ts`,
);
const waiting = globSync(WAITING, { cwd: import.meta.dirname })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !WAITING_LONGEST.includes(path));

// The tests that never wait run first, beside the files that mostly wait. Each worker loads and optimises the program
// itself, so more than one busy worker per core costs CPU time. Workers of the next project, and all processes that the
// tests start, reuse what Node.js has compiled.
const PROJECTS = [
  {
    extends: true as const,
    test: {
      name: 'working',
      include: ['test/**/*.test.ts'],
      exclude: [...configDefaults.exclude, ...waiting],
      maxWorkers: Math.max(2, availableParallelism()) + WAITING_LONGEST.length,
      sequence: { groupOrder: 0 },
    },
  },
  {
    extends: true as const,
    test: { name: 'waiting', include: waiting, maxWorkers: 10, sequence: { groupOrder: 1 } },
  },
];

/** `npm run soak` is the mode "soak": the long tests alone, at full size. */
export default defineConfig(({ mode }) => ({
  test: {
    ...(mode === 'soak' ? soak() : { env, projects: PROJECTS }),
    tags: [{ name: SIZED_TAG, description: 'takes its size from test/support/size.ts' }],
    pool: 'forks',
    // A worker imports a module once for all of its files.
    isolate: false,
    // Node strips types itself and caches what it compiles, as it does for the processes that tests start.
    experimental: { viteModuleRunner: false },
    // A larger young generation: a twentieth less processor time. Imports as in the program.
    execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64', ...RELATIVE_IMPORTS],
    reporters: ['default', createSkippedReporter((text) => process.stdout.write(text))],
    setupFiles: join(import.meta.dirname, 'test/support/use-seed.ts'),
    globalSetup: join(import.meta.dirname, 'test/support/run-folder.ts'),
    sequence: { sequencer: LongestFirst },
    // For a machine that is many times slower than an idle one: only a hang takes this long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
}));

/** Few files, some of which take minutes: those that work fill the pauses of those that wait. */
function soak() {
  return {
    include: [...sizedFiles()],
    env: { ...env, TEST_SIZE: process.env['TEST_SIZE'] ?? '1' },
    tagsFilter: [SIZED_TAG],
    maxWorkers: 8,
  };
}
