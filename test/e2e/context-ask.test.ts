import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { openFolder } from './strata.ts';

const TALK = 'test:here:talk';
const previewSchema = z.object({
  question: z.string(),
  used: z.number(),
  window: z.number(),
  messages: z.array(z.string()),
  parts: z.array(z.object({ key: z.string(), tokens: z.number() })),
});

it('shows the request a question would make, and stores nothing', async () => {
  using folder = openFolder();
  const strata = (...args: readonly string[]) => folder.run(args);
  const lines = Array.from({ length: 120 }, (_, index) => ({
    id: `m${index}`,
    author: 'Ada',
    text: index === 3 ? 'My tent is orange.' : `Note ${index}: the ferry left the harbour a little late again today.`,
  }));
  writeFileSync(folder.file('talk.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'));
  writeFileSync(
    folder.file('config.toml'),
    '[defaults]\nmodel = "offline:demo"\ncontext_window = 5000\nmax_output_tokens = 400\n',
  );
  writeFileSync(folder.file('questions.txt'), 'What colour is my tent?\n\nThe sea is calm today.\n');
  expect((await strata('import', 'talk.jsonl', '--conversation', TALK)).code).toBe(0);
  const before = await strata('context', '--conversation', TALK, '--json');
  const asked = await strata('context', '--conversation', TALK, '--ask-file', 'questions.txt', '--json');
  expect(asked.code).toBe(0);
  const [question, statement] = asked.stdout
    .trim()
    .split('\n')
    .map((line) => previewSchema.parse(JSON.parse(line)));
  expect(question?.messages).toContain('m3');
  expect(question?.messages.at(-1)).toBe('m119');
  expect(question?.used).toBeLessThanOrEqual(question?.window ?? 0);
  expect(question?.parts.map(({ key }) => key)).toContain('passages');
  expect(statement?.messages).not.toContain('m3');
  const text = await strata('context', '--conversation', TALK, '--ask', 'What colour is my tent?');
  expect(text.stdout).toContain('| Ada] My tent is orange.');
  const after = await strata('context', '--conversation', TALK, '--json');
  expect(after.stdout).toBe(before.stdout);
}, 120_000);

it('refuses questions without a conversation', async () => {
  using folder = openFolder();
  const refused = await folder.run(['context', '--ask', 'What?']);
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain('--ask and --ask-file need --conversation');
});
