import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createPinoLog } from '../../adapters/logs/pino/index.ts';
import { formatLogLine } from '../../src/util/log/log-line.ts';
import { openFolder } from '../e2e/strata.ts';
import { startJsonServer } from '../support/json-server.ts';

/** What the operator reads in a terminal: nobody else's text may control it, or change the direction of what it shows. */

const ODD = 'bad \u202Egnp\u2066 \u009B31mred \u001B[2J\u001B]0;title\u0007 \u007F end';
const CONTROL = /[[\p{Cc}\u202A-\u202E\u2066-\u2069]--[\n]]/v;
const HERE = ['--conversation', 'terminal:local:main'] as const;

describe('an error of a model server', () => {
  it.each([
    ['a reply', [], 'Hello.\n'],
    ['the check of the setup', ['doctor'], ''],
    ['the check of the setup as JSON', ['doctor', '--json'], ''],
  ])('does not control the terminal in %s', async (_, args, input) => {
    await using server = await startJsonServer(() => ({ status: 418, body: { error: { message: ODD, code: ODD } } }));
    using folder = openFolder();
    const model = `[providers.local]\nbase_url = "${server.url}/v1"\n[defaults]\nmodel = "local:small"\n`;
    writeFileSync(folder.file('config.toml'), model);
    const { stdout, stderr } = await folder.run(args, input);
    expect(stdout + stderr).toContain('gnp');
    expect(stdout + stderr).not.toMatch(CONTROL);
  });
});

it('a nearby model cannot control the terminal by its name', async () => {
  await using server = await startJsonServer(({ path }) => {
    return { body: path === '/api/tags' ? { models: [{ name: ODD }, { name: 'small' }] } : {} };
  });
  using folder = openFolder({ OLLAMA_HOST: server.url });
  const { stdout, stderr } = await folder.run(['doctor', '--offline']);
  expect(stdout).toContain('ollama:small');
  expect(stdout + stderr).not.toMatch(CONTROL);
});

describe('an imported file', () => {
  it('does not control the terminal by its ids', async () => {
    using folder = openFolder();
    const said = JSON.stringify({ id: ODD, author: ODD, text: ODD });
    writeFileSync(folder.file('chat.jsonl'), `${said}\n`);
    await folder.run(['import', 'chat.jsonl', ...HERE]);
    const shown = await folder.run(['transcript', ...HERE, '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ id: ODD, author: { id: ODD } });
    expect(shown.stdout).not.toMatch(CONTROL);
  });
});

describe('a log', () => {
  it.each([true, false])('does not control a terminal that shows it (readable: %s)', (readable) => {
    const lines: string[] = [];
    const output = { write: (line: string) => lines.push(line) };
    createPinoLog({ level: 'info', output, readable }).warn(ODD, { cause: ODD });
    expect(lines).toEqual([expect.stringMatching(/gnp[\s\S]*gnp/)]);
    expect(lines.join('')).not.toMatch(CONTROL);
    if (!readable) expect(JSON.parse(lines.join(''))).toMatchObject({ message: ODD, cause: ODD });
  });

  it('of a program does not either', () => {
    const fields = { list: [ODD], nested: { [ODD]: ODD } };
    const line = formatLogLine({ level: 'warn', time: '2026-11-28T10:00:00Z', message: ODD, fields }, { color: false });
    expect(line).not.toMatch(CONTROL);
  });
});
