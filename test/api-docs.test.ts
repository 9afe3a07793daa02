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

  it('exports the types of results', () => {
    const known = new Set(entryPoints().flatMap(({ file }) => apiOf(file).map(({ name }) => name)));
    const unknown = entryPoints().flatMap(({ name: entry, file }) => {
      const api = apiOf(file);
      const own = new Set(['stratabot', 'stratabot/adapter-kit'].includes(entry) ? api.map(({ name }) => name) : known);
      const functions = api.filter(({ declaration }) => /^(?:async )?function/u.test(declaration));
      return functions.flatMap(({ name, declaration }) =>
        typesOfResult(declaration).flatMap((type) => (own.has(type) ? [] : `${entry} ${name}: ${type}`)),
      );
    });
    expect(unknown).toEqual([]);
  });

  it('describes each declaration once, and links to it elsewhere', () => {
    const blocks: readonly string[] =
      page.match(/^```ts\n(?:function|interface|type|class|const)[\s\S]*?^```$/gmu) ?? [];
    expect(blocks.length).toBeGreaterThan(300);
    expect(blocks.filter((block, index) => blocks.indexOf(block) !== index)).toEqual([]);
    expect(page).toMatch(/## stratabot\/adapter-kit\n\nAlso exports, as described above: \[Bot\]\(#bot\), /);
  });

  it('shows declarations with their docstrings and examples', () => {
    expect(page).toMatch(
      /#### createBot\n\n[^`]+`CONFIG_INVALID`[\s\S]+?```ts\nfunction createBot\(options: BotOptions\): Bot;\n```/,
    );
    expect(page).toMatch(
      /#### ErrorCode\n[^#]+```ts\ntype ErrorCode =\n {2}\| 'CONFIG_INVALID'\n(?: {2}\| '[A-Z_]+'\n)+/,
    );
    expect(page).toContain("```ts\nconst app = await openApp({ config: 'config.toml' });");
  });
});

const BUILT_IN = new Set(['AsyncGenerator', 'Iterable', 'NonNullable', 'Pick', 'Readonly', 'ReadonlyMap', 'Record']);

/** A program that exports such a result needs a name for its type. */
function typesOfResult(declaration: string): readonly string[] {
  const parameters = new Set(declaration.match(/(?<=^[^(]*<[^(]*)\b[A-Z]\w*/gu));
  const result = declaration.slice(declaration.lastIndexOf('): ') + 3);
  const names = [...result.matchAll(/(?<![.'])\b[A-Z]\w*/gu)].map(([name]) => name);
  return names.filter((name) => !(name in globalThis) && !BUILT_IN.has(name) && !parameters.has(name));
}
