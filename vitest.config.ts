import { defineConfig } from 'vitest/config';
import { createSkippedReporter } from './test/support/skipped-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    reporters: ['default', createSkippedReporter((text) => process.stdout.write(text))],
    // Many tests wait for processes and sockets: one more file at a time than leaving a core free would allow.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
