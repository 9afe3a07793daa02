import { writeFileSync } from 'node:fs';
import { useAimock } from '@copilotkit/aimock/vitest';
import { expect, test } from 'vitest';
import { openFolder } from './strata.ts';

/** A plugin whose tool delegates, in a bot as people start it, with a provider over HTTP. */

const mock = useAimock({ strict: true, port: 0 });

const PLUGIN = `import { definePlugin, defineTool } from 'stratabot';
import { z } from 'zod';

export default definePlugin({
  name: 'desk',
  tools: () => [
    defineTool({
      name: 'research',
      description: 'Answers a question from the handbook.',
      input: z.object({ question: z.string() }),
      run: async ({ question }, { spawn }) =>
        await spawn({ task: \`Look up: \${question}\`, tools: ['handbook'], next: (text) => (text.includes('page') ? null : 'And the page?') }),
    }),
    defineTool({
      name: 'handbook',
      description: 'Returns the handbook.',
      input: z.object({}),
      run: async () => 'The harbour opens at six, says page 12.',
    }),
  ],
});
`;
const TOOL = 'research';
const call = (name: string, input: object) => ({ toolCalls: [{ name, arguments: JSON.stringify(input) }] });

test('a tool of a plugin delegates to the model', async () => {
  const { llm, url } = mock();
  const person = /^(?![\s\S]*Look up:|[\s\S]*And the page)/u;
  llm.on({ userMessage: person, hasToolResult: false }, call(TOOL, { question: 'When does the harbour open?' }));
  llm.on({ userMessage: 'And the page?' }, { content: 'It is on page 12.' });
  llm.on({ userMessage: 'Look up:', hasToolResult: false }, call('handbook', {}));
  llm.on({ userMessage: 'Look up:', hasToolResult: true }, { content: 'At six.' });
  llm.on({ userMessage: person, hasToolResult: true }, { content: 'The harbour opens at six.' });
  using folder = openFolder({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${url}/v1` });
  writeFileSync(folder.file('desk.ts'), PLUGIN);
  const model = 'model = "openai:gpt-4.1-mini"';
  writeFileSync(
    folder.file('config.toml'),
    `plugins = ["./desk.ts"]\n[defaults]\n${model}\ntools = ["${TOOL}", "handbook"]\n`,
  );
  const { stdout, stderr, code } = await folder.run(['start'], 'When can I sail?\n/status\n/why\n');
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('The harbour opens at six.');
  expect(stdout).toMatch(/reply: 2 calls of openai:gpt-4\.1-mini/);
  expect(stdout).toMatch(/child: 3 calls of openai:gpt-4\.1-mini/);
  const listed = await folder.run(['context']);
  expect(listed.stdout).toContain('terminal:local:main');
  expect(listed.stdout).not.toContain('::');
  const costs = await folder.run(['cost', '--by', 'conversation', '--json']);
  expect(costs.stdout).toContain('"terminal:local:main"');
  const why = await folder.run(['why', '--conversation', 'terminal:local:main', '--request']);
  expect([why.code, why.stdout.includes('It is on page 12.')]).toEqual([0, true]);
  expect((await folder.run(['context', '--conversation', 'terminal:local:main::x'])).code).toBe(2);
}, 120_000);
