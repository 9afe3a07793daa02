import { defineConfig } from 'vitest/config';
import { sizedFiles } from './test/support/sized-files.ts';
import { createSkippedReporter } from './test/support/skipped-reporter.ts';

/** `npm run soak` is the mode "soak": the files with long tests, at full size. */
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'soak' ? [...sizedFiles()] : ['test/**/*.test.ts'],
    env: mode === 'soak' ? { TEST_SIZE: process.env['TEST_SIZE'] ?? '1' } : {},
    pool: 'forks',
    reporters: ['default', createSkippedReporter((text) => process.stdout.write(text))],
    // Many tests wait for processes and sockets: one more file at a time than leaving a core free would allow.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
}));
