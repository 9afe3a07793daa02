import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRedisMock } from 'js-redis-server';
import { describe, expect, test, vi } from 'vitest';
import { startJsonServer } from '../support/json-server.ts';
import { ended, jsonLines, openFolder } from './strata.ts';

const KEY = 'terminal:local:main';
const HERE = ['--conversation', KEY] as const;

describe('a piped conversation', () => {
  test('prints only the replies, in order, and exits 0', async () => {
    using folder = openFolder();
    const { code, stdout, stderr } = await folder.runProcess(
      [],
      'My name is Ada and I prefer tea.\n/memory list\n/context\n',
    );
    expect(code).toBe(0);
    const [reply, memory, context] = stdout.split('\n\n');
    expect(reply).toContain('Ada');
    expect(memory).toMatch(/^Memory: \d/);
    expect(memory).toMatch(/preference +Ada prefers tea/);
    expect(context).toMatch(/^Context: \[[█░]{10}\] ~?[\d,]+ of [\d,]+ tokens/);
    expect(stdout).not.toMatch(/\p{Cc}\[/u);
    expect(stderr).toMatch(/^offline:demo \(.*\) · data · \/help, \/demo, \/quit\n$/);
  });

  test('opens no inspector, but a service without a terminal does', async () => {
    using chat = openFolder();
    expect((await chat.run([], 'Hello.\n')).stderr).not.toContain('Inspector');
    const queue = await createRedisMock();
    using folder = openFolder({ STRATA_QUEUE_URL: queue.url });
    const worker = folder.start(['start', '--role', 'worker']);
    const end = ended(worker);
    let said = '';
    worker.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    try {
      await vi.waitFor(() => expect(said).toMatch(/^Inspector: http:\/\/127\.0\.0\.1:\d+\/\?key=\S+$/mu), 60_000);
    } finally {
      worker.kill('SIGKILL');
      await end;
      await queue.close();
    }
  });

  test('goes on where the last one ended', async () => {
    using folder = openFolder();
    await folder.run([], 'My name is Ada and I prefer tea.\n');
    const { code, stdout, stderr } = await folder.run(['chat'], 'What do I prefer to drink?\n/status\n');
    expect(stderr).toMatch(/^The conversation continues after \d+ messages, the last of \d{4}-.* UTC\.$/m);
    expect(code).toBe(0);
    expect(stdout.split('\n\n')[0]).toContain('tea');
    expect(stdout).toMatch(/Messages +4 stored/);
  });

  test('shows the address of a public inspector', async () => {
    using folder = openFolder({ INSPECTOR_PASSWORD: 'swordfish' });
    const inspector = '[inspector]\nurl = "https://strata.example.org"\npassword = "env:INSPECTOR_PASSWORD"\n';
    writeFileSync(folder.file('config.toml'), inspector);
    const { code, stdout } = await folder.run([], 'Hello.\n/status\n/context\n');
    expect(code).toBe(0);
    expect(stdout.match(/Inspector +https:\/\/strata\.example\.org\/c\/terminal%3Alocal%3Amain$/gm)).toHaveLength(2);
  });

  test('answers every command', async () => {
    using folder = openFolder();
    const lines = ['/help', '/help memory', '/status', '/context', '/context detail persona', '/compact', '/summaries'];
    const more = ['/memory', '/memory search tea', '/transcript search tea', '/privacy', '/memory export', '/reset'];
    const { code, stdout } = await folder.run([], ['I prefer tea.', ...lines, ...more].join('\n'));
    expect(code).toBe(0);
    expect(stdout).not.toContain('That did not work');
    for (const title of [
      'Help\n',
      '/memory: ',
      'Status',
      'Context: ',
      'Compact: ',
      'Summaries: ',
      'Memory: ',
      'Transcript: ',
      'Privacy',
      'Export: ',
      'Reset: ',
    ]) {
      expect(stdout).toContain(`\n\n${title}`);
    }
  });

  test('/demo shows compaction, a stack, memories and recall', async () => {
    using folder = openFolder();
    const { code, stdout } = await folder.runProcess([], '/demo\n/status\n/memory list\n');
    expect(code).toBe(0);
    expect(stdout).toMatch(/Strata: .*\btea\b/);
    expect(stdout).toMatch(/Strata: .*\bcarpenter\b/);
    expect(stdout).not.toContain('found nothing');
    expect(stdout).toMatch(/Memory: \d+ memories here/);
    expect(stdout).toMatch(/Cost +compact: (?:[2-9]|\d\d+) calls/);
    const [demo] = jsonLines<{ conversation: string }>((await folder.run(['context', '--json'])).stdout);
    const of = ['--conversation', demo?.conversation ?? ''];
    // On a busy machine, the last jobs end after the conversation, in the next process.
    const highest = async () => {
      await folder.run([], '/status\n');
      const { stdout: context } = await folder.run(['context', ...of, '--json']);
      return Math.max(
        ...jsonLines<{ stack: { level: number }[] }>(context).flatMap(({ stack }) => stack.map((one) => one.level)),
      );
    };
    await expect.poll(highest, { timeout: 60_000 }).toBeGreaterThan(0);
  }, 120_000);
});

describe('JSON', () => {
  test('is all that is printed, in the promised shapes', async () => {
    using folder = openFolder();
    await folder.run([], 'My name is Ada and I prefer tea.\nI live in Riga.\n');

    const context = await folder.run(['context', ...HERE, '--json']);
    expect(context).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(context.stdout)).toEqual([
      expect.objectContaining({
        conversation: KEY,
        entries: 4,
        contextFrom: 1,
        compactedUpto: 0,
        stack: [],
        tail: { fromSeq: 1, toSeq: 4, tokens: expect.any(Number) },
        used: expect.any(Number),
        window: expect.any(Number),
        tier: 'none',
        focus: { people: [{ id: 'local', name: expect.any(String) }], names: ['riga'], intents: [] },
      }),
    ]);

    const memories = await folder.run(['memory', 'list', ...HERE, '--json']);
    const [records] = jsonLines<readonly { readonly text: string }[]>(memories.stdout);
    expect(records?.find((record) => record.text.includes('tea'))).toMatchObject({
      kind: 'preference',
      audience: 'dm',
      state: 'active',
      sources: [{ conversation: KEY, seq: 1, id: expect.any(String) }],
    });

    const transcript = await folder.run(['transcript', ...HERE, '--json']);
    const entries = jsonLines<{ readonly seq: number; readonly role: string; readonly text: string }>(
      transcript.stdout,
    );
    expect(entries.map((entry) => [entry.seq, entry.role])).toEqual([
      [1, 'user'],
      [2, 'assistant'],
      [3, 'user'],
      [4, 'assistant'],
    ]);
    expect(entries[0]?.text).toBe('My name is Ada and I prefer tea.');

    const recall = await folder.run(
      ['recall', ...HERE, '--limit', '2', '--json'],
      'Where does Ada live?\n\nWhat tea?\n',
    );
    expect(jsonLines(recall.stdout)).toEqual([
      { question: 'Where does Ada live?', results: expect.any(Array) },
      { question: 'What tea?', results: expect.any(Array) },
    ]);
    expect(jsonLines<{ readonly results: readonly unknown[] }>(recall.stdout)[0]?.results[0]).toEqual({
      id: expect.any(String),
      seq: 3,
      score: expect.any(Number),
      tokens: expect.any(Number),
    });

    const list = await folder.run(['context', '--json']);
    expect(jsonLines(list.stdout)).toEqual([
      { conversation: KEY, entries: 4, audience: 'dm', lastActivityAt: expect.any(String) },
    ]);
    expect(jsonLines((await folder.run(['summaries', ...HERE, '--json'])).stdout)).toEqual([[]]);
    const rewrite = await folder.run(['summaries', 'rewrite', 'none', 'the', 'prices', ...HERE]);
    expect(rewrite).toMatchObject({ code: 1, stderr: expect.stringContaining('none') });
    expect(jsonLines((await folder.run(['memory', 'search', 'tea', ...HERE, '--json'])).stdout)[0]).toHaveLength(1);
    const doctor = await folder.run(['doctor', '--json']);
    expect(jsonLines(doctor.stdout)[0]).toMatchObject({
      ok: true,
      checksRun: expect.arrayContaining(['node', 'model']),
    });
  }, 120_000);

  test('of a long output ends quietly when the reader leaves', async () => {
    using folder = openFolder();
    await folder.run([], 'Hello.\n');
    const child = folder.start(['transcript', ...HERE, '--json']);
    child.stdout.destroy();
    const { code, stderr } = await ended(child, '');
    expect(code).toBe(0);
    expect(stderr).toBe('');
  });
});

describe('memory on the command line', () => {
  test('is added, corrected, pinned, explained, exported and forgotten', async () => {
    using folder = openFolder();
    await folder.run([], 'My name is Ada and I prefer tea.\n');
    const memory = (...args: readonly string[]) => folder.run(['memory', ...args, ...HERE]);
    const added = await memory('add', 'The', 'office closes at six.', '--kind', 'fact');
    const id = added.stdout.trim();
    expect(id).toMatch(/^[0-9a-z]{26}$/);
    expect((await memory('edit', id, 'The office closes at seven.')).stdout).toContain(
      'Corrected: The office closes at seven.',
    );
    expect((await memory('pin', id)).stdout).toContain('active, pinned');
    expect((await memory('show', id)).stdout).toMatch(/Trust +operator/);
    expect((await memory('why', id)).stdout).toContain('edited by you');
    expect((await memory('list')).stdout.split('\n')[1]).toContain('The office closes at seven.');
    const copy = await memory('export', '--person', 'local');
    expect(JSON.parse(copy.stdout).memories.length).toBeGreaterThan(0);
    expect(await memory('forget', id)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('Nothing has been deleted yet'),
      stderr: expect.stringContaining('--yes'),
    });
    const planned = JSON.parse((await memory('forget', id, '--json')).stdout);
    expect(planned).toMatchObject({ deleted: false, memories: [{ id }], messages: [], sentences: [] });
    expect(JSON.parse((await memory('held', '--json')).stdout)).toEqual([]);
    expect((await memory('forget', id, '--yes')).stdout).toBe('Forgotten: 1 memory deleted.\n');
    expect(await memory('show', id)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('There is no memory'),
    });
  }, 120_000);
});

describe('configuration and prompts', () => {
  test('are checked, shown and copied', async () => {
    using folder = openFolder();
    writeFileSync(folder.file('config.toml'), '[defaults]\nmodel = "offline:demo"\n');
    expect(await folder.run(['config', 'check'])).toMatchObject({ code: 0 });
    expect((await folder.run(['config', 'show', '--origin'])).stdout).toMatch(
      /agents\[main\]\.model +"offline:demo" +.*config\.toml:2/,
    );
    expect((await folder.run(['prompts', 'check'])).code).toBe(0);
    expect((await folder.run(['prompts', 'list', '--json'])).stdout).toContain('"persona"');
    expect((await folder.run(['prompts', 'eject', 'persona', '--to', 'own'])).stdout).toContain('persona.md.hbs');
    expect((await folder.run([], 'Hi\n')).stderr).toContain('offline:demo (configured) · ');
  }, 120_000);
});

describe('wrong input', () => {
  /** One clear sentence, no stack, and the right exit code. */
  const cases: readonly (readonly [
    string,
    { readonly args: readonly string[]; readonly config?: string; readonly code: number; readonly says: RegExp },
  ])[] = [
    [
      'a command behind another one',
      {
        args: ['start', 'config'],
        code: 2,
        says: /^strata: "start" cannot be combined with another command\. Run: strata config\n$/,
      },
    ],
    [
      'an unknown command',
      { args: ['memroy'], code: 2, says: /^strata: There is no command "memroy"\. Did you mean memory\?\n$/ },
    ],
    ['an unknown option', { args: ['--dta', 'x'], code: 2, says: /unknown option '--dta'\n\(Did you mean --data\?\)/ }],
    [
      'an unknown sub-command',
      {
        args: ['memory', 'lst'],
        code: 2,
        says: /^strata: There is no command "memory lst"\. Did you mean memory list\?\n$/,
      },
    ],
    [
      'a missing option',
      { args: ['transcript'], code: 2, says: /required option '--conversation <key>' not specified/ },
    ],
    [
      'a missing argument',
      { args: ['import', '--conversation', KEY], code: 2, says: /missing required argument 'file'/ },
    ],
    [
      'an impossible key',
      {
        args: ['context', '--conversation', 'nope'],
        code: 2,
        says: /"nope" is not a conversation key\. Expected platform:workspace:channel/,
      },
    ],
    [
      'an impossible number',
      { args: ['recall', ...HERE, '--limit', '0'], code: 2, says: /Expected a whole number of at least 1/ },
    ],
    [
      'a missing configuration',
      { args: ['--config', 'no.toml'], code: 2, says: /^strata: Cannot read the configuration no\.toml: .*\n$/ },
    ],
    [
      'broken TOML',
      {
        args: [],
        config: '[defaults\n',
        code: 2,
        says: /^strata: The configuration has 1 error:\n {2}config\.toml:1:\d+: .+\n$/,
      },
    ],
    [
      'misspelt keys',
      {
        args: [],
        config: '[defaults]\nmodle = "x"\nmax_steps = 0\n',
        code: 2,
        says: /config\.toml:2:\d+: .*did you mean model\?\n.*config\.toml:3:\d+: /,
      },
    ],
    [
      'an unknown model',
      {
        args: ['--model', 'nope:model'],
        code: 2,
        says: /^strata: The configuration has 1 error:\n {2}--model: there is no provider "nope"; known: .*offline\n$/,
      },
    ],
    [
      'a missing key',
      {
        args: ['--model', 'openai:gpt-4.1-mini'],
        code: 2,
        says: /^strata: The model "openai:gpt-4\.1-mini" needs the environment variable OPENAI_API_KEY, .*\n$/,
      },
    ],
    [
      'a missing file to import',
      { args: ['import', 'no.jsonl', ...HERE], code: 2, says: /^strata: Cannot read no\.jsonl: .*\n$/ },
    ],
    [
      'a conversation of another platform to chat in',
      {
        args: ['chat', '--conversation', 'discord:a:b'],
        code: 2,
        says: /^strata: discord:a:b is not a terminal conversation\. .*\n$/,
      },
    ],
    [
      'an unknown platform',
      {
        args: [],
        config: '[channels.discrod]\ntoken = "x"\n',
        code: 2,
        says: /config\.toml:1:\d+: .*discrod: unknown channel/,
      },
    ],
  ];

  test.each(cases)('%s', async (_name, { args, config, code, says }) => {
    using folder = openFolder();
    if (config !== undefined) writeFileSync(folder.file('config.toml'), config);
    const end = await folder.run(args, 'Hi\n');
    expect(end).toMatchObject({ code, stdout: '' });
    expect(end.stderr).toMatch(says);
    expect(end.stderr).not.toMatch(/^\s+at /m);
  });

  test('an unknown conversation', async () => {
    using folder = openFolder();
    await folder.run([], 'Hi\n');
    const elsewhere = ['context', '--conversation', 'terminal:local:other'];
    expect(await folder.runProcess(elsewhere)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^strata: There is no conversation "terminal:local:other" in the store\./),
    });
  });

  test('refuses and keeps data that is no folder or database', async () => {
    using folder = openFolder();
    writeFileSync(folder.file('plain'), 'text');
    const plain = await folder.run(['--data', 'plain'], 'Hi\n');
    expect(plain).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^strata: The data at .*plain cannot be used: /),
    });
    mkdirSync(folder.file('bad'));
    const garbage = Buffer.alloc(20_000, 'not a database ');
    writeFileSync(folder.file('bad/strata.db'), garbage);
    const corrupt = await folder.run(['--data', 'bad'], 'Hi\n');
    expect(corrupt).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/cannot be used: .*Nothing was changed\. Restore a backup .*\n$/),
    });
  });

  test('refuses a second process on the same data', async () => {
    using folder = openFolder();
    const first = folder.start([]);
    const end = ended(first);
    await new Promise<void>((resolve) => {
      first.stdout.once('data', () => resolve());
      first.stdin.write('Hello.\n');
    });
    const second = await folder.runProcess([], 'Hi\n');
    expect(second).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^strata: Another Strata process is using the data at /),
    });
    first.stdin.end('My name is Ada.\n');
    expect(await end).toMatchObject({ code: 0, stdout: expect.stringContaining('Ada') });
  });

  test('refuses invalid UTF-8 and a huge line, serves the rest', async () => {
    using folder = openFolder();
    const input = Buffer.concat([
      Buffer.from('Hello.\n'),
      Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.alloc(10_000_000, 'x'),
      Buffer.from('\nMy name is Ada.\n'),
    ]);
    const { code, stdout, stderr } = await folder.runProcess([], input);
    expect(code).toBe(1);
    expect(stderr).toContain('Line 2 was not sent: it is not valid UTF-8.');
    expect(stderr).toContain('Line 3 was not sent: it is 10.0 MB long, the limit is 1.0 MB.');
    expect(stdout).toContain('Ada');
    const transcript = await folder.run(['transcript', ...HERE, '--json']);
    const said = jsonLines<{ readonly role: string; readonly text: string }>(transcript.stdout);
    expect(said.filter((entry) => entry.role === 'user').map((entry) => entry.text)).toEqual([
      'Hello.',
      'My name is Ada.',
    ]);
  });
});

describe('help', () => {
  test.each([
    [],
    ['start'],
    ['chat'],
    ['import'],
    ['replay'],
    ['recall'],
    ['context'],
    ['what-if'],
    ['summaries'],
    ['transcript'],
    ['memory'],
    ['send'],
    ['config'],
    ['prompts'],
    ['doctor'],
  ])('%s is complete, with an example', async (...path: readonly string[]) => {
    using folder = openFolder();
    const { code, stdout, stderr } = await folder.run([...path, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: strata${path.map((word) => ` ${word}`).join('')}`);
    expect(stdout).toContain('$ ');
    expect(stdout).toContain('--data <dir>');
    expect(stdout).toContain('--config <file>');
  });

  test.each([
    [['transcript'], /--conversation <key> [^-]*\(required;/],
    [['memory', 'export'], /--person <id> [^-]*\(required\)/],
  ])('%s marks the options that it requires', async (path, marked) => {
    using folder = openFolder();
    expect((await folder.run([...path, '--help'])).stdout).toMatch(marked);
  });

  test.each([
    ['help memory list', 'Usage: strata memory list '],
    ['memory help list', 'Usage: strata memory list '],
    ['help discord invite', 'Usage: strata discord invite '],
    ['help doctor', 'Usage: strata doctor '],
  ])('strata %s shows the help of that command', async (line, usage) => {
    using folder = openFolder();
    const { code, stdout, stderr } = await folder.run(line.split(' '));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(usage);
  });

  test.each([
    ['help nope', 'There is no command "nope". `strata --help` lists the commands.'],
    ['help doctr', 'There is no command "doctr". Did you mean doctor?'],
    ['help memory lst', 'There is no command "memory lst". Did you mean memory list?'],
    ['discord help nope', 'There is no command "discord nope". `strata discord --help` lists the commands.'],
  ])('strata %s says what is wrong', async (line, problem) => {
    using folder = openFolder();
    expect(await folder.run(line.split(' '))).toEqual({ code: 2, stdout: '', stderr: `strata: ${problem}\n` });
  });
});

describe('strata send', () => {
  const SEND = ['send', '--conversation', 'terminal:local:main', '--id', 'tea-1', 'The tea', 'is ready.'];

  test('stores a message that the next start posts once', async () => {
    using folder = openFolder();
    const refused = await folder.run(SEND);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('"dm", "private" or "public"');
    const sent = await folder.run([...SEND, '--audience', 'dm', '--json']);
    expect(sent).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(sent.stdout)).toEqual({ conversation: 'terminal:local:main', seq: 1, isNew: true });
    expect((await folder.run(SEND)).stdout).toBe('#1 was already sent; nothing was sent again.\n');
    const first = await folder.run(['chat'], '/status\n');
    expect(first.stdout.match(/The tea is ready\./g)).toHaveLength(1);
    expect((await folder.run(['chat'], '/status\n')).stdout).not.toContain('The tea is ready.');
  }, 120_000);

  test('creates no folder for a mistyped --data', async () => {
    using folder = openFolder();
    const { code, stderr } = await folder.run([...SEND, '--audience', 'dm', '--data', 'dtaa']);
    expect(code).toBe(2);
    expect(stderr).toContain('There is no data at');
    expect(existsSync(join(folder.path, 'dtaa'))).toBe(false);
  }, 120_000);

  test('refuses a file that is not there', async () => {
    using folder = openFolder();
    const send = ['send', '--conversation', 'terminal:local:main', '--file', 'no.png', '--audience', 'dm'];
    const { code, stderr } = await folder.runProcess(send);
    expect(code).toBe(2);
    expect(stderr).toContain('--file no.png: it does not exist');
  }, 120_000);
});

const STOPPED = 'Stopped before the end of the file. Run the same command again to continue.\n';
/** About a second, on a machine that is busy. */
const SOON_MS = 5000;

describe('the end', () => {
  test.each([
    ['recall', ['recall']],
    ['context', ['context', '--ask-file', '-']],
  ])(
    'SIGINT ends %s while it waits for a question',
    async (_, command) => {
      using folder = openFolder();
      await folder.run(['chat'], 'Hi.\n');
      const child = folder.start([...command, '--conversation', 'terminal:local:main']);
      const end = ended(child);
      await new Promise<void>((resolve) => {
        child.stdout.once('data', () => resolve());
        child.stdin.write('tea\n');
      });
      child.kill('SIGINT');
      expect((await end).code).toBe(0);
    },
    60_000,
  );

  test.each([
    ['doctor', 1, 'strata: The process received a stop signal.\n'],
    ['prompts eval', 1, 'strata: The process received a stop signal.\n'],
    ['replay talk.jsonl --reply', 1, STOPPED],
  ])(
    'SIGINT ends %s while a model does not answer',
    async (line, code, words) => {
      using folder = openFolder();
      const asked = Promise.withResolvers<void>();
      await using server = await startJsonServer(({ path }) => {
        if (!path.endsWith('/chat/completions')) return { status: 404, body: {} };
        asked.resolve();
        return null;
      });
      const provider = `[providers.local]\nbase_url = "${server.url}/v1"`;
      writeFileSync(folder.file('config.toml'), `${provider}\n[defaults]\nmodel = "local:m"\n`);
      writeFileSync(folder.file('talk.jsonl'), '{"id":1,"author":"Ada","text":"Hello."}\n');
      const child = folder.start(line.split(' '));
      const end = ended(child);
      await asked.promise;
      const stoppedAt = performance.now();
      child.kill('SIGINT');
      expect(await end).toMatchObject({ code, stderr: words });
      expect(performance.now() - stoppedAt).toBeLessThan(SOON_MS);
    },
    120_000,
  );

  // Shows: W33
  test('SIGTERM finishes what is owed and exits 0', async () => {
    using folder = openFolder();
    const child = folder.start([]);
    const end = ended(child);
    await new Promise<void>((resolve) => {
      child.stdout.once('data', () => resolve());
      child.stdin.write('My name is Ada and I prefer tea.\n');
    });
    child.kill('SIGTERM');
    expect(await end).toMatchObject({ code: 0 });
    const { stdout } = await folder.run(['memory', 'list', ...HERE]);
    expect(stdout).toContain('tea');
  });
});

test('tables keep columns in terminals, and lines in pipes', async () => {
  const text = 'My name is Ada and I prefer tea with milk to coffee in the morning.\n/memory list\n';
  const listed = ['memory', 'list', ...HERE];
  for (const columns of [60, 80]) {
    using folder = openFolder({}, { columns });
    await folder.run([], text);
    for (const args of [listed, ['context', ...HERE], ['why', ...HERE], ['cost'], ['prompts', 'list']]) {
      const { code, stdout } = await folder.run(args);
      expect(code).toBe(0);
      expect(Math.max(...stdout.split('\n').map((line) => line.length)), stdout).toBeLessThanOrEqual(columns);
    }
  }
  using folder = openFolder();
  await folder.run([], text);
  expect((await folder.run(listed)).stdout).toMatch(/preference +Ada prefers tea with milk to coffee .*active$/mu);
});
