import { writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { openFolder } from './strata.ts';

vi.setConfig({ testTimeout: 60_000 });

test('a section from a file reaches the model', async () => {
  using folder = openFolder();
  const section = '[[agents.sections]]\nkey = "opening-hours"\nfile = "hours.md"\npriority = 90\n';
  writeFileSync(folder.file('config.toml'), `[[agents]]\nid = "main"\n${section}`);
  writeFileSync(folder.file('hours.md'), 'The workshop is open from 9 to 17.');
  const { code, stdout, stderr } = await folder.run(['chat'], 'Hello\n/context detail opening-hours\n');
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('section') });
  expect(stdout).toContain('The workshop is open from 9 to 17.');
});
