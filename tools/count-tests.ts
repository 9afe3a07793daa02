import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';

/**
 * Prints "N passed, N failed, N skipped" for the JSON reports of several runs. A test that one run leaves to another is
 * not skipped.
 */

const report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

const files = process.argv.slice(2).flatMap((path) => {
  if (existsSync(path)) return report.parse(JSON.parse(readFileSync(path, 'utf8'))).testResults;
  return [{ name: path, status: 'failed', assertionResults: [] }];
});
const results = files.flatMap(({ name, status, assertionResults }) => {
  const tests = assertionResults.map((test) => ({ key: `${name} ${test.fullName}`, status: test.status }));
  // A file that does not load has no tests to fail.
  const isUnloaded = status === 'failed' && tests.every((test) => test.status !== 'failed');
  return isUnloaded ? [...tests, { key: name, status }] : tests;
});
const passed = results.filter(({ status }) => status === 'passed');
const failed = results.filter(({ status }) => status === 'failed');
const run = new Set([...passed, ...failed].map(({ key }) => key));
const skipped = new Set(results.map(({ key }) => key).filter((key) => !run.has(key)));
process.stdout.write(`${passed.length} passed, ${failed.length} failed, ${skipped.size} skipped\n`);
