import type { Reporter, TestModule } from 'vitest/node';

const MARK = 'skipped: ';

/** Prints, after the counts, what could not be tested on this machine. The reason is the name of the skipped test. */
export function createSkippedReporter(write: (text: string) => void): Reporter {
  return {
    onTestRunEnd(modules) {
      const lines = reasonsOf(modules).map(({ reason, places }) => `Skipped: ${reason} (${places.join('; ')})\n`);
      if (lines.length > 0) write(`\n${lines.join('')}`);
    },
  };
}

function reasonsOf(modules: readonly TestModule[]) {
  const skipped = modules
    .flatMap((module) => [...module.children.allTests('skipped')])
    .filter(({ name }) => name.startsWith(MARK));
  const byReason = Map.groupBy(skipped, ({ name }) => name.slice(MARK.length));
  return [...byReason].map(([reason, tests]) => ({
    reason,
    places: [...new Set(tests.map(({ parent }) => ('fullName' in parent ? parent.fullName : parent.moduleId)))],
  }));
}
