import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openFolder } from './strata.ts';

it.each(['start', 'stop'])('waits for a %s that keeps nothing alive', async (step) => {
  using folder = openFolder();
  const plugin = `import { definePlugin } from 'stratabot';
export default definePlugin({
  name: 'slow',
  ${step}: async () => {
    await new Promise((resolve) => setTimeout(resolve, 300).unref());
    process.stderr.write('done\\n');
  },
});
`;
  writeFileSync(folder.file('slow.ts'), plugin);
  writeFileSync(folder.file('config.toml'), 'plugins = ["./slow.ts"]\n');
  const { code, stdout, stderr } = await folder.runProcess(['start'], 'Hello\n');
  expect({ code, stdout: stdout.trim() === '' }).toEqual({ code: 0, stdout: false });
  expect(stderr).toMatch(/^done$/m);
});

it('is named in errors as it names itself', async () => {
  using folder = openFolder();
  const plugin = `import { definePlugin } from 'stratabot';
export default definePlugin({
  name: 'house-rules',
  hooks: { post: () => { throw new Error('no rule fits'); } },
  stop: () => { throw new Error('still open'); },
});
`;
  writeFileSync(folder.file('index.ts'), plugin);
  writeFileSync(folder.file('config.toml'), 'plugins = ["./index.ts"]\n');
  const { stderr } = await folder.run(['start'], 'Hello\n');
  expect(stderr).toContain('The post hook of the plugin house-rules failed: no rule fits.');
});
