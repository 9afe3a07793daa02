import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type LoadOptions, loadConfig } from '../../../src/config/load.ts';
import { type ConfigChange, planChange } from '../../../src/config/watch/change.ts';
import { watchConfig } from '../../../src/config/watch/watch.ts';
import { createPromptLibrary } from '../../../src/prompts/library.ts';

const steps = (count: number) => `[defaults]\nmax_steps = ${count}\n`;

function setup(
  text: string | null,
  options: { readonly pollMs?: number; readonly before?: (folder: string) => void } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'strata-watch-'));
  const file = join(folder, 'config.toml');
  options.before?.(folder);
  if (text !== null) writeFileSync(file, text);
  const load: LoadOptions = { file, explicit: false, environment: {}, flags: {} };
  const initial = loadConfig(load);
  const changes: ConfigChange[] = [];
  const rejections: string[] = [];
  const library = createPromptLibrary();
  const live = watchConfig({
    initial,
    load,
    check: (config) => library.load(config.agents.map(({ language, prompts }) => ({ language, folder: prompts }))),
    onChange: (change) => changes.push(change),
    onReject: (message) => rejections.push(message),
    debounceMs: 20,
    pollMs: options.pollMs ?? 60_000,
  });
  onTestFinished(() => live.close());
  return { folder, file, live, changes, rejections, library, maxSteps: () => live.config().agents[0]?.max_steps };
}

const patience = { timeout: 5000, interval: 10 };

test('applies writes in place and repeated replacements by renaming', async () => {
  const { file, changes, maxSteps } = setup(steps(1));
  for (const [count, replace] of [
    [2, false],
    [3, true],
    [4, true],
    [5, false],
    [6, true],
  ] as const) {
    if (replace) {
      writeFileSync(`${file}.new`, steps(count));
      renameSync(`${file}.new`, file);
    } else {
      writeFileSync(file, steps(count));
    }
    await vi.waitFor(() => expect(maxSteps()).toBe(count), patience);
  }
  expect(changes.every((change) => change.waiting.length === 0)).toBe(true);
});

test('a changed file of a section is a change', async () => {
  const section = '[[agents]]\nid = "a"\n[[agents.sections]]\nkey = "tea"\nfile = "own/tea.md"\n';
  const { folder, live } = setup(section, {
    before: (root) => {
      mkdirSync(join(root, 'own'));
      writeFileSync(join(root, 'own', 'tea.md'), 'Green tea.');
    },
  });
  const text = () => live.config().agents[0]?.sections[0]?.text;
  expect(text()).toBe('Green tea.');
  writeFileSync(join(folder, 'own', 'tea.md'), 'Black tea.');
  await vi.waitFor(() => expect(text()).toBe('Black tea.'), patience);
});

test('a burst of writes is one change', async () => {
  const { file, changes, maxSteps } = setup(steps(1));
  for (let count = 2; count <= 9; count += 1) writeFileSync(file, steps(count));
  await vi.waitFor(() => expect(maxSteps()).toBe(9), patience);
  expect(changes.length).toBeLessThanOrEqual(2);
});

test('reports a broken change once, keeping the last good one', async () => {
  const { file, live, rejections, changes, maxSteps } = setup(steps(3));
  writeFileSync(file, '[defaults]\nmax_stps = 4\nmodel = 3\n');
  await vi.waitFor(() => expect(rejections).toHaveLength(1), patience);
  expect(rejections[0]).toContain('The configuration has 2 errors');
  expect(rejections[0]).toContain('defaults.max_stps: unknown key; did you mean max_steps?');
  expect(live.rejection()).toBe(rejections[0]);
  expect(maxSteps()).toBe(3);
  live.reload();
  expect(rejections).toHaveLength(1);
  writeFileSync(file, steps(4));
  await vi.waitFor(() => expect(maxSteps()).toBe(4), patience);
  expect(live.rejection()).toBeNull();
  expect(changes).toHaveLength(1);
});

test('going back to what runs clears the rejection', async () => {
  const { file, live, rejections } = setup(steps(3));
  writeFileSync(file, '[defaults\n');
  await vi.waitFor(() => expect(rejections).toHaveLength(1), patience);
  writeFileSync(file, steps(3));
  await vi.waitFor(() => expect(live.rejection()).toBeNull(), patience);
});

test('a rejected change applies once its prompt folder is mended', async () => {
  const { folder, file, live, rejections } = setup(steps(1), { pollMs: 50 });
  const prompts = join(folder, 'elsewhere', 'prompts');
  writeFileSync(file, `[defaults]\nmax_steps = 2\nprompts = ${JSON.stringify(prompts)}\n`);
  await vi.waitFor(() => expect(rejections).toHaveLength(1), patience);
  mkdirSync(prompts, { recursive: true });
  writeFileSync(join(prompts, 'persona.md.hbs'), '{{#if');
  await vi.waitFor(() => expect(rejections).toHaveLength(2), patience);
  writeFileSync(join(prompts, 'persona.md.hbs'), 'You are patient.');
  await vi.waitFor(() => expect(live.config().agents[0]?.prompts).toBe(prompts), patience);
  expect(live.rejection()).toBeNull();
});

test('a removed file is reported and changes nothing', async () => {
  const { file, rejections, maxSteps } = setup(steps(3));
  rmSync(file);
  await vi.waitFor(() => expect(rejections).toHaveLength(1), patience);
  expect(rejections[0]).toContain('it does not exist');
  expect(maxSteps()).toBe(3);
});

test('an emptied file is reported and changes nothing', async () => {
  const { file, rejections, maxSteps } = setup(steps(1));
  writeFileSync(file, ' \n');
  await vi.waitFor(() => expect(rejections).toHaveLength(1), patience);
  expect(rejections[0]).toContain(`${file}: it is empty.`);
  expect(maxSteps()).toBe(1);
  writeFileSync(file, steps(2));
  await vi.waitFor(() => expect(maxSteps()).toBe(2), patience);
  writeFileSync(file, '# all defaults\n');
  await vi.waitFor(() => expect(maxSteps()).toBe(8), patience);
});

test('a new file is applied', async () => {
  const { file, maxSteps } = setup(null);
  expect(maxSteps()).toBe(8);
  writeFileSync(file, steps(2));
  await vi.waitFor(() => expect(maxSteps()).toBe(2), patience);
});

test('polls a linked file outside the watched folder', async () => {
  const { folder, maxSteps } = setup(null, {
    pollMs: 50,
    before: (base) => {
      for (const version of ['one', 'two']) {
        mkdirSync(join(base, version));
        writeFileSync(join(base, version, 'config.toml'), steps(version === 'one' ? 1 : 2));
      }
      symlinkSync(join(base, 'one', 'config.toml'), join(base, 'config.toml'));
    },
  });
  expect(maxSteps()).toBe(1);
  writeFileSync(join(folder, 'one', 'config.toml'), steps(7));
  await vi.waitFor(() => expect(maxSteps()).toBe(7), patience);
});

test('reloads an agent’s own prompts, keeping the last good one', async () => {
  const before = (base: string) => {
    mkdirSync(join(base, 'mine'));
    writeFileSync(join(base, 'mine', 'persona.md.hbs'), 'One {{agentId}}');
  };
  const { folder, live, library, rejections } = setup('[defaults]\nprompts = "mine"\n', { before });
  const source = { language: 'en', folder: join(folder, 'mine') };
  const persona = () => library.render('persona', { agentId: 'x' }, source).text;
  expect(persona()).toBe('One x');
  writeFileSync(join(folder, 'mine', 'persona.md.hbs'), 'Two {{agentId}}');
  await vi.waitFor(() => expect(persona()).toBe('Two x'), patience);
  writeFileSync(join(folder, 'mine', 'persona.md.hbs'), 'Three {{agntId}}');
  await vi.waitFor(() => expect(rejections).toHaveLength(1), patience);
  expect(rejections[0]).toContain('"agntId" is not a variable of this prompt');
  expect(persona()).toBe('Two x');
  expect(live.rejection()).not.toBeNull();
});

test('reloads prompts in the subfolder of the language', async () => {
  const clock = (text: string) => (base: string) => {
    mkdirSync(join(base, 'mine', 'de'), { recursive: true });
    writeFileSync(join(base, 'mine', 'de', 'clock.md.hbs'), text);
  };
  const settings = '[defaults]\nprompts = "mine"\nlanguage = "de"\n';
  const { folder, library } = setup(settings, { before: clock('Jetzt {{now}}') });
  const rendered = () => library.render('clock', { now: 'x' }, { language: 'de', folder: join(folder, 'mine') }).text;
  expect(rendered()).toBe('Jetzt x');
  clock('Nun {{now}}')(folder);
  await vi.waitFor(() => expect(rendered()).toBe('Nun x'), patience);
});

test('names what needs a restart and applies the rest', async () => {
  const { file, live, changes } = setup('[[agents]]\nid = "a"\n');
  writeFileSync(
    file,
    '[[agents]]\nid = "a"\nmax_steps = 3\n[[agents]]\nid = "b"\ndefault = true\n[storage]\ndirectory = "else"\n[channels.x]\na = 1\n',
  );
  await vi.waitFor(() => expect(changes).toHaveLength(1), patience);
  expect(live.waiting()).toEqual(['storage', 'channels', 'agents (added or removed)']);
  expect(live.config().agents).toMatchObject([{ id: 'a', default: true, max_steps: 3 }]);
  expect(live.config().channels).toEqual({});
  expect(live.config().storage.directory).toMatch(/data$/);
});

test('a removed agent continues until the restart', () => {
  const load = (text: string) => {
    const file = join(mkdtempSync(join(tmpdir(), 'strata-')), 'config.toml');
    writeFileSync(file, text);
    return loadConfig({ file, explicit: true, environment: {}, flags: { data: '/d' } }).config;
  };
  const running = load('[[agents]]\nid = "a"\n[[agents]]\nid = "b"\n');
  const change = planChange(running, load('[[agents]]\nid = "b"\nmax_steps = 2\n[privacy]\nretention_days = 5\n'));
  expect(change.config.agents).toMatchObject([
    { id: 'a', default: false },
    { id: 'b', default: true, max_steps: 2 },
  ]);
  expect(change.config.privacy.retention_days).toBe(5);
  expect(change).toMatchObject({ changed: true, waiting: ['agents (added or removed)'] });
  expect(planChange(running, running)).toMatchObject({ changed: false, waiting: [] });
});
