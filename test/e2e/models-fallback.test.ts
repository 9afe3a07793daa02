import { writeFileSync } from 'node:fs';
import { useAimock } from '@copilotkit/aimock/vitest';
import { beforeEach, expect, test } from 'vitest';
import { type Folder, openFolder } from './strata.ts';

/** A bot as people start it, with models of two providers over HTTP. */

const mock = useAimock({ strict: true, port: 0 });
const CLAUDE = 'claude-haiku-4-5';
const GPT = 'gpt-4.1-mini';

beforeEach(() => {
  mock().llm.clearFixtures();
  mock().llm.clearRequests();
});

function open(): Folder {
  const { url } = mock();
  const keys = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' };
  const folder = openFolder({ ...keys, ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: `${url}/v1` });
  writeFileSync(folder.file('config.toml'), `[defaults]\nmodel = ["anthropic:${CLAUDE}", "openai:${GPT}"]\n`);
  return folder;
}

const fails = (status: number, type: string) =>
  mock().llm.on({ model: CLAUDE }, { status, error: { type, message: 'scripted' } });
const answers = () => mock().llm.on({ model: GPT }, { content: 'Good morning to you.' });

test.each([
  [529, 'overloaded_error'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
])(
  'another provider answers while the first says %d',
  async (status, type) => {
    fails(status, type);
    answers();
    using folder = open();
    const { stdout, stderr, code } = await folder.run(['start'], 'Hello.\n/status\n/cost\n');
    expect([code, stderr.includes(`anthropic:${CLAUDE}`)]).toEqual([0, true]);
    expect(stdout).toContain('Good morning to you.');
    expect(stdout).toMatch(new RegExp(`Last reply by +openai:${GPT}`));
    expect(stdout).toMatch(new RegExp(`reply: 1 call of openai:${GPT}`));
  },
  60_000,
);

test.each([
  [401, 'authentication_error', 'access key'],
  [400, 'invalid_request_error', 'refused to answer'],
])(
  'no other provider is asked when the first says %d',
  async (status, type, apology) => {
    fails(status, type);
    answers();
    using folder = open();
    const { stdout } = await folder.run(['start'], 'Hello.\n');
    expect(stdout).toContain(apology);
    expect(stdout).not.toContain('Good morning');
  },
  60_000,
);

test('doctor and config check look at each of them', async () => {
  mock().llm.on({ model: CLAUDE }, { content: 'ok' });
  answers();
  using folder = open();
  const { stdout } = await folder.run(['doctor']);
  expect(stdout).toContain(`agent main: anthropic:${CLAUDE}`);
  expect(stdout).toContain(`fallback of agent main: openai:${GPT}`);
  writeFileSync(folder.file('config.toml'), `[defaults]\nmodel = ["anthropic:${CLAUDE}", "gpt"]\n`);
  const { stderr, code } = await folder.run(['config', 'check']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('config.toml:2:')]);
  expect(stderr).toContain('defaults.model[1]: expected provider:model');
}, 60_000);
