import { expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/adapter-kit.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { filler, type Script, scriptedModel } from '../compaction/compaction.world.ts';

const IMAGE = 'data:image/png;base64,AAAA';
const picture = { kind: 'attachment', name: 'a.png', mediaType: 'image/png', sizeBytes: 3, reference: IMAGE } as const;

function imagesIn(request: ModelRequest | undefined): readonly string[] {
  const content = (request?.messages ?? []).flatMap((message) => (message.role === 'user' ? message.content : []));
  return content.flatMap((part) => (part.kind === 'image' ? [part.url] : []));
}

/** Opens the first message when asked to look. */
const opening: Script = ({ messages }) => {
  const last = messages.at(-1);
  const isAsked = last?.role === 'user' && JSON.stringify(last).includes('look again');
  return isAsked ? { calls: [{ tool: 'message_open', input: { message: 1 } }] } : { text: 'I see.' };
};

async function openedAt(window: number) {
  const plain = scriptedModel(opening, { id: 'test:chat', window });
  const model = Object.assign(plain, { traits: { windowTokens: window, tools: true, images: true } });
  await using world = await createBotWorld({
    models: [model],
    agent: { context_window: window, tools: ['message_open'] },
  });
  await world.say('What is this?', { attachments: [picture] });
  await world.settled();
  for (let turn = 0; turn < 6; turn += 1) {
    await world.say(filler(60, turn));
    await world.settled();
  }
  const replies = () => plain.requests.filter(({ purpose }) => purpose === 'reply');
  const unseen = imagesIn(replies().at(-1));
  await world.say('Please look again.');
  await world.settled();
  expect(world.events.filter(({ kind }) => kind === 'turn.failed')).toEqual([]);
  return { first: imagesIn(replies()[0]), unseen, last: replies().at(-1) };
}

it('an image that left the view can be opened again', async () => {
  const { first, unseen, last } = await openedAt(16_000);
  expect(first).toEqual([IMAGE]);
  expect(unseen).toEqual([]);
  expect(imagesIn(last)).toEqual([IMAGE]);
});

it('an opened image that does not fit is named', async () => {
  const { last } = await openedAt(700);
  expect(imagesIn(last)).toEqual([]);
  expect(JSON.stringify(last?.messages)).toContain('an image is left out here to save space');
});
