import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { apiOf, entryPoints, renderApi } from '../tools/api-docs.ts';

describe('the API reference', () => {
  const page = renderApi();

  it('is the page in docs', () => {
    const written = readFileSync(join(import.meta.dirname, '../docs/api.md'), 'utf8');
    expect(written === page, 'docs/api.md is older than the sources. Run: npm run docs').toBe(true);
  });

  it('has a section for each entry of the package', () => {
    for (const { name } of entryPoints()) expect(page).toContain(`\n## ${name}\n`);
    expect(entryPoints().map(({ name }) => name)).toContain('stratabot/program');
  });

  it('has exactly the values that a program can use', async () => {
    for (const { name, file } of entryPoints()) {
      const values = apiOf(file).filter(({ declaration }) => !/^(?:interface|type) /u.test(declaration));
      const documented = values.map((entry) => entry.name);
      expect(documented.toSorted(), name).toEqual(Object.keys(await import(file)).toSorted());
    }
  }, 240_000);

  it('describes each export', () => {
    const missing = entryPoints().flatMap(({ file }) => apiOf(file).filter(({ doc }) => doc === ''));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it('shows declarations with their docstrings and examples', () => {
    expect(page).toMatch(
      /#### createBot\n\n[^`]+`CONFIG_INVALID`[\s\S]+?```ts\nfunction createBot\(options: BotOptions\): Bot;\n```/,
    );
    expect(page).toContain("```ts\nconst app = await openApp({ config: 'config.toml' });");
  });
});
