import { expect, test } from 'vitest';
import { createTextPoster } from '../../../adapters/channels/shared/without-file.ts';
import { type Post, parseKey } from '../../../src/adapter-kit.ts';
import { postTo } from '../../contracts/channel-kit.ts';

const file = postTo(parseKey('slack:T1:C1').key, {
  body: { kind: 'file', name: 'reply.md', text: 'one two three' },
  replyTo: 'Q1',
});
const texts = ['one', 'two', 'three'];

test('the words of a refused file continue where they failed', async () => {
  const postText = createTextPoster();
  const sent: Post[] = [];
  let failsAt = 2;
  const send = async (part: Post) => {
    sent.push(part);
    if (sent.length === failsAt) throw new Error('Slack does not respond');
    return `id of ${part.body.text}`;
  };
  await expect(postText(file, texts, send)).rejects.toThrow('does not respond');
  failsAt = 0;
  expect(await postText({ ...file, attempt: 2 }, texts, send)).toBe('id of one');
  expect(sent.map(({ body, attempt }) => [body.text, attempt])).toEqual([
    ...[
      ['one', 1],
      ['two', 1],
    ],
    ...[
      ['two', 2],
      ['three', 2],
    ],
  ]);
  expect(sent.map(({ replyTo }) => replyTo)).toEqual(['Q1', null, null, null]);
  expect(new Set(sent.map(({ nonce }) => nonce)).size).toBe(3);
});

test('a later file of the same name starts over', async () => {
  const postText = createTextPoster();
  const send = async ({ body }: Post) => body.text;
  expect(await postText(file, texts, send)).toBe('one');
  expect(await postText(file, ['other'], send)).toBe('other');
});

test('files of other names and conversations are posted whole', async () => {
  const postText = createTextPoster();
  let isAway = true;
  const send = async ({ body }: Post) => {
    if (isAway && body.text === 'two') throw new Error('Slack does not respond');
    return body.text;
  };
  await expect(postText(file, texts, send)).rejects.toThrow();
  isAway = false;
  const other = { ...file, conversation: parseKey('slack:T1:C2').key };
  expect(await postText(other, ['else'], send)).toBe('else');
  expect(await postText({ ...file, nonce: '9-9-9' }, ['else'], send)).toBe('else');
  expect(await postText({ ...file, attempt: 2 }, texts, send)).toBe('one');
});

test('a hundred files that fail at once each continue', async () => {
  const postText = createTextPoster();
  const files = Array.from({ length: 100 }, (_, index) => ({ ...file, nonce: `n${index}` }));
  const sent: string[] = [];
  let isAway = true;
  const send = async ({ body, nonce }: Post) => {
    if (isAway && body.text === 'two') throw new Error('Slack does not respond');
    sent.push(nonce);
    return body.text;
  };
  for (const one of files) await expect(postText(one, texts, send)).rejects.toThrow();
  isAway = false;
  for (const one of files) await postText({ ...one, attempt: 2 }, texts, send);
  expect(sent).toHaveLength(new Set(sent).size);
});
