import { describe, expect, test } from 'vitest';
import { NO_ANSWER } from '../../../src/compaction/answer/answer.ts';
import { collectCall } from '../../../src/compaction/answer/collect-call.ts';
import { parseJsonAnswer, plainAnswer } from '../../../src/compaction/answer/read-answer.ts';
import { createSpokenReader, type Spoken, spokenText } from '../../../src/models/spoken/reader.ts';

/** What an answer says that comes in pieces of this size. */
function inPieces(text: string, size: number): string {
  const reader = createSpokenReader();
  const parts: Spoken[] = [];
  for (let at = 0; at < text.length; at += size) parts.push(...reader.text(text.slice(at, at + size)));
  parts.push(...reader.end(true));
  const from = parts.findLastIndex(({ kind }) => kind === 'unopened') + 1;
  return parts
    .slice(from)
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .join('');
}

const SIZES = [1, 2, 3, 5, 8, 13, 1000];

const ANALYSIS = '<|channel|>analysis<|message|>We greet.<|end|><|start|>assistant';
const FINAL = '<|channel|>final<|message|>';

describe('an answer is said without', () => {
  test.each([
    ['<thinking>Hm.</thinking>\nHello', 'Hello'],
    ['<reasoning>\nHm.\n</reasoning>\n\nHello', 'Hello'],
    ['<think>Hm.</think>Hello', 'Hello'],
    ['Hm. <think>A greeting.</think>Good day', 'Hm. Good day'],
    ['Hm.\n<think>\nA greeting.\n</think>\nGood day', 'Hm.\n\nGood day'],
    ['<think>okay, so', ''],
    ['[THINK]Hm.[/THINK]Hello', 'Hello'],
    ['◁think▷Hm.◁/think▷Hello', 'Hello'],
    ['<seed:think>Hm.</seed:think>Hello', 'Hello'],
    ['<|START_THINKING|>Hm.<|END_THINKING|>Hello', 'Hello'],
    ['Hm.\n</think>\n\nHello', 'Hello'],
    ['</think>\n\nHello', 'Hello'],
  ])('reasoning: %j', (text, said) => {
    expect(SIZES.map((size) => inPieces(text, size).trim())).toEqual(SIZES.map(() => said));
    expect(spokenText(text).trim()).toBe(said);
  });

  test.each([
    [`${ANALYSIS}${FINAL}Hello<|return|>`, 'Hello'],
    [`<|start|>assistant${ANALYSIS}${FINAL}Hello`, 'Hello'],
    [`${ANALYSIS}<|channel|>final <|constrain|>JSON<|message|>{"a":1}`, '{"a":1}'],
    [`<|channel|>commentary<|message|>I look.<|end|><|start|>assistant${FINAL}Hello<|return|>`, 'I look.\n\nHello'],
    ['analysisWe greet.assistantfinalHello', 'Hello'],
    [`${FINAL}Hello<|end|><|start|>user<|message|>Thanks`, 'Hello'],
    ['<|channel|>analysis<|message|>We greet', ''],
  ])('channels: %j', (text, said) => {
    expect(SIZES.map((size) => inPieces(text, size).trim())).toEqual(SIZES.map(() => said));
  });

  test.each([
    ...[
      '<|im_end|>',
      '<|eot_id|>',
      '</s>',
      '<|endoftext|>',
      '[/INST]',
      '<end_of_turn>',
      '<｜end▁of▁sentence｜>',
    ].flatMap((mark) => [
      [`Hello${mark}`, 'Hello'],
      [`Hello!\n${mark}\n`, 'Hello!'],
      [`Hello. ${mark}${mark}`, 'Hello.'],
      [`"Hello"${mark}`, '"Hello"'],
      [`\`\`\`js\nlet a;\n\`\`\`${mark}`, '```js\nlet a;\n```'],
      [mark, ''],
    ]),
    ['Hello<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nFine', 'Hello'],
    ['Hello\n<|im_start|>user\nHow are you?', 'Hello'],
    ['Hello</s>[INST] More [/INST] Yes', 'Hello'],
    ['Hello\n<|user|>\nMore', 'Hello'],
    ['<|im_start|>assistant\nHello<|im_end|>', 'Hello'],
    ['<|start_header_id|>assistant<|end_header_id|>\n\nHello<|eot_id|>', 'Hello'],
    ['<start_of_turn>model\nHello<end_of_turn>', 'Hello'],
    [' [/INST] Hello', 'Hello'],
    ['assistant\n\nHello', 'Hello'],
  ])('tokens around turns: %j', (text = '', said = '') => {
    expect(SIZES.map((size) => inPieces(text, size).trim())).toEqual(SIZES.map(() => said));
  });
});

describe('an answer keeps', () => {
  test.each([
    'The tag <think> marks the beginning of reasoning.',
    'It writes <think> before its reasoning and </think> after it.',
    '<think> opens the reasoning and </think> closes it.',
    '<think> is the tag that opens it.',
    'Write "<think>" first.',
    'Write "<think>hm</think>\nHello" there.',
    'ChatML ends with <|im_end|>',
    'ChatML ends with <|im_end|>.',
    'The end token is:\n<|im_end|>',
    '<|im_end|> is the token that ends a turn.',
    'It is </s> in Llama 2 and <|eot_id|> in Llama 3',
    'The token "<|eot_id|>" ends a turn, </s> too',
    'A message looks like <|start|>assistant<|channel|>analysis<|message|>Hm<|end|>',
    'Wrap it in [INST] and [/INST].',
    'Between <|user|> and <|assistant|> there is text.',
    'Use <thinking>notes</thinking> in your prompt.',
    'Mistral writes [THINK] hm [/THINK] instead',
  ])('marks that it mentions: %j', (text) => {
    expect(SIZES.map((size) => inPieces(text, size))).toEqual(SIZES.map(() => text));
  });

  test.each([
    'Use `<think>` and `</think>`, then `<|im_end|>`',
    'Use ``<|im_end|> ` </s>``',
    '```\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n```',
    '~~~xml\n<think>\nhm\n</think>\n~~~\nThat is it.',
    '1. Write:\n\n    ```xml\n    <think>\n    hm\n    </think>\n    ```\n2. Done.',
    '> ```\n> <think>\n> hm\n> </think>\n> ```\nDone.',
    '```xml\n<think>\n```python\n<|im_start|>user\n```\nDone.',
  ])('marks in code: %j', (text) => {
    expect(SIZES.map((size) => inPieces(text, size))).toEqual(SIZES.map(() => text));
  });

  test.each([
    '<s>gone</s>',
    'a < b, c > d and x <| y |> z',
    'assistant',
    'assistants help.',
    'analysis of the data follows.',
    'A list[0] and a <b>word</b>, <br/> too <',
    '`one mark\nHello ```` ~~',
  ])('what is no mark: %j', (text) => {
    expect(SIZES.map((size) => inPieces(text, size))).toEqual(SIZES.map(() => text));
  });
});

test('reasoning that is cut off is no answer', () => {
  const reader = createSpokenReader();
  expect([...reader.text('Hm. <think>They'), ...reader.end(false)]).toEqual([
    { kind: 'text', text: 'Hm. ' },
    { kind: 'reasoning' },
  ]);
});

test('a message to a function is a call', () => {
  const reader = createSpokenReader();
  const text = '<|channel|>commentary to=functions.roll_dice <|constrain|>json<|message|>{"sides":6}<|call|>';
  const call = { kind: 'call', tool: 'roll_dice', input: '{"sides":6}' };
  expect([...reader.text(text), ...reader.end(true)]).toEqual([call]);
});

describe('summaries and memories have no', () => {
  const marked = '<think>Hm.</think>They met in Oslo.<|im_end|>';

  test('marks in their text', () => {
    expect(plainAnswer(marked)).toBe('They met in Oslo.');
    expect(plainAnswer(`${ANALYSIS}${FINAL}They met.<|return|>`)).toBe('They met.');
  });

  test('marks in calls', () => {
    const summary = collectCall(NO_ANSWER, { callId: 'a', tool: 'summary_save', input: { summary: marked } });
    expect(summary.answer.summary).toBe('They met in Oslo.');
    const memory = { kind: 'fact', text: marked, sources: [1] };
    const { answer } = collectCall(NO_ANSWER, { callId: 'b', tool: 'memory_save', input: memory });
    expect(answer.candidates[0]?.text).toBe('They met in Oslo.');
  });

  test('marks in JSON', () => {
    const written = { summary: marked, memories: [{ kind: 'fact', text: marked, sources: [1] }] };
    const answer = parseJsonAnswer(plainAnswer(`${JSON.stringify(written)}<|eot_id|>`));
    expect([answer?.summary, answer?.candidates[0]?.text]).toEqual(['They met in Oslo.', 'They met in Oslo.']);
  });
});
