import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serve } from '../fixtures/models-server.ts';
import { type Folder, jsonLines, openFolder } from './strata.ts';

interface Refusal {
  readonly status: number;
  readonly error: string;
  /** The doctor's finding, its remedy, and the text that the person reads. */
  readonly severity: 'warn' | 'fail';
  readonly reason: string;
  readonly remedy: RegExp;
  readonly apology: RegExp;
}

const REFUSALS: readonly Refusal[] = [
  {
    status: 401,
    error: 'Incorrect API key provided',
    severity: 'fail',
    reason: 'auth',
    remedy: /Set a key/,
    apology: /access key/,
  },
  {
    status: 404,
    error: 'The model `gpt-9` does not exist',
    severity: 'fail',
    reason: 'missing',
    remedy: /Choose a model/,
    apology: /no model has the configured name/,
  },
  {
    status: 429,
    error: 'Rate limit reached',
    severity: 'warn',
    reason: 'rate-limit',
    remedy: /^Wait/,
    apology: /in a minute/,
  },
  {
    status: 429,
    error: 'You exceeded your current quota, please check your plan and billing details. (insufficient_quota)',
    severity: 'fail',
    reason: 'quota',
    remedy: /Add credit/,
    apology: /used up/,
  },
  {
    status: 500,
    error: 'The server had an error',
    severity: 'fail',
    reason: 'transient',
    remedy: /server is running/,
    apology: /in a little while/,
  },
];

function configure(folder: Folder, url: string): void {
  const lines = [
    '[defaults]',
    'model = "away:gpt-9"',
    'context_window = 8000',
    '[providers.away]',
    `base_url = "${url}/v1"`,
    'api_key = "key"',
  ];
  writeFileSync(folder.file('config.toml'), `${lines.join('\n')}\n`);
}

interface Checkup {
  readonly findings: readonly {
    readonly checkId: string;
    readonly severity: string;
    readonly message: string;
    readonly fixHint: string | null;
  }[];
}

async function modelFinding(folder: Folder, args: readonly string[] = []) {
  const { code, stdout } = await folder.run(['doctor', '--json', ...args]);
  const [checkup] = jsonLines<Checkup>(stdout);
  return { code, finding: checkup?.findings.find(({ checkId }) => checkId === 'model') };
}

test.each(REFUSALS)(
  'every command reports a model that answers $status ($reason)',
  async (refusal) => {
    await using server = await serve((_, response) => {
      response.writeHead(refusal.status, { 'content-type': 'application/json', 'retry-after': '60' });
      response.end(JSON.stringify({ error: { message: refusal.error, type: refusal.reason } }));
    });
    using folder = openFolder();
    configure(folder, server.url);
    const { code, finding } = await modelFinding(folder);
    expect(code).toBe(refusal.severity === 'fail' ? 1 : 0);
    expect(finding).toMatchObject({ severity: refusal.severity, fixHint: expect.stringMatching(refusal.remedy) });
    expect(finding?.message).toContain(`did not answer (${refusal.reason}): ${refusal.error}`);

    const talk = await folder.run([], 'Hello.\nHello again.\n/status\n');
    expect(talk.code).toBe(1);
    expect(talk.stdout).toMatch(refusal.apology);
    expect(talk.stdout).toMatch(new RegExp(`Reply +failed at .*\\(${refusal.reason}\\)`));
    expect(talk.stderr.match(/The reply failed: /g)).toHaveLength(1);
    expect(talk.stderr).toMatch(new RegExp(refusal.remedy.source.replace('^', '')));
  },
  120_000,
);

test('an unserved model fails the doctor, unless asking is off', async () => {
  using folder = openFolder();
  configure(folder, 'http://127.0.0.1:9');
  expect(await modelFinding(folder)).toMatchObject({ code: 1, finding: { severity: 'fail' } });
  const unasked = await modelFinding(folder, ['--offline']);
  expect(unasked).toMatchObject({
    code: 0,
    finding: { severity: 'ok', message: expect.stringContaining('not asked') },
  });
}, 120_000);
