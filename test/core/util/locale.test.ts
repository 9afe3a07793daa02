import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ENVIRONMENT } from '../../support/environment.ts';

const run = promisify(execFile);

async function shownIn(locale: string): Promise<string> {
  const script = join(import.meta.dirname, 'locale.process.ts');
  const { stdout } = await run(process.execPath, [script], { env: { ...ENVIRONMENT, LC_ALL: locale } });
  return stdout;
}

it('focus and sentences are alike in all locales', async () => {
  const usual = await shownIn('en_US.UTF-8');
  expect(usual).toContain('istanbul');
  for (const locale of ['tr_TR.UTF-8', 'fi_FI.UTF-8', 'el_GR.UTF-8', 'lt_LT.UTF-8', 'C']) {
    expect(await shownIn(locale)).toBe(usual);
  }
});
