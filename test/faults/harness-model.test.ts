import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPromptLibrary } from '../../src/prompts/library.ts';
import { createModelServer, type ModelServer } from './harness/model.ts';
import { createChance } from './harness/random.ts';
import { sayingOf } from './harness/talk.ts';

let server: ModelServer;
beforeAll(async () => {
  const manners = { replyLatencyMs: [0, 1], summaryLatencyMs: [0, 1], replyFaults: 0, summaryFaults: 0 } as const;
  server = await createModelServer({ chance: createChance(1, 'model'), manners, windowTokens: 5000 });
});
afterAll(() => server[Symbol.asyncDispose]());

const prompts = createPromptLibrary();
const { text } = sayingOf(4, 3);
const transcript = `<transcript-a1>\n[#3 | Ada, Monday 2026-11-23 10:00] ${text}\n</transcript-a1>`;

/** The text of the answer to a request without tools. */
async function answerTo(system: string): Promise<string> {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: transcript },
  ];
  const response = await fetch(server.url, { method: 'POST', body: JSON.stringify({ messages }) });
  const events = (await response.text()).split('\n\n').flatMap((line) => {
    const json = line.slice('data: '.length);
    return json.startsWith('{') ? [JSON.parse(json)] : [];
  });
  return events.map((event) => event.choices[0]?.delta.content ?? '').join('');
}

const memory = { kind: 'fact', text: 'My parcel 400003 is at the post office.', sources: [3] };
const common = { tools: false, maxMemories: 9, examples: false };
const compactor = { ...common, strict: '', instruction: '', targetWords: 90, structured: false };
const english = { language: 'en', folder: '' };

// After several failures, the product asks for JSON.
it('answers with a summary where JSON is asked for', async () => {
  const answer = await answerTo(prompts.render('compactor', compactor, english).text);
  const summary = 'Ada spoke of the parcels of the messages 3 to 3.';
  expect(JSON.parse(answer)).toEqual({ summary, memories: [memory] });
  expect(server.record.summaries).toContain(summary);
});

it('answers with memories where JSON is asked for', async () => {
  expect(JSON.parse(await answerTo(prompts.render('extractor', common, english).text))).toEqual({ memories: [memory] });
});
