import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADA, GENERAL, type SlackDouble, signed, startSlack } from '../fixtures/slack/double.ts';
import { type Opened, openChannel, recordSink, until } from '../fixtures/slack/kit.ts';
import { freePort } from '../support/port.ts';
import { SIZED, sized } from '../support/size.ts';

let slack: SlackDouble;
let bot: Opened;
let port: number;
const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);

beforeEach(async () => {
  slack = await startSlack();
  port = await freePort();
  bot = openChannel(slack, { sink: recordSink(), table: { transport: 'http', http: { host: '127.0.0.1', port } } });
  await bot.channel.start(bot.sink);
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  process.off('unhandledRejection', note);
  await bot.channel.stop();
  await slack.close();
  expect(unhandled).toEqual([]);
});

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

async function send(body: string, type = JSON_TYPE): Promise<number> {
  const headers = { 'content-type': type, ...signed(body) };
  const url = `http://127.0.0.1:${port}/slack/events`;
  const response = await fetch(url, { method: 'POST', body, headers, signal: AbortSignal.timeout(8_000) });
  await response.arrayBuffer();
  return response.status;
}

describe('a signed body that is no object', () => {
  it.each(['null', ' null ', '1', 'true', '"text"', '[]', '[null]', '', '{', 'nul'])('%j is refused', async (body) => {
    expect(await send(body)).toBe(400);
    if (body !== '') expect(await send(`payload=${encodeURIComponent(body)}`, FORM_TYPE)).toBe(400);
  });

  it('of any shape gets an answer and breaks nothing', { ...SIZED, timeout: 600_000 }, async () => {
    const fields = fc.record(
      {
        type: fc.constantFrom('event_callback', 'block_actions', 'view_submission', 'shortcut', 'message_action'),
        command: fc.constant('/strata'),
        event: fc.jsonValue({ maxDepth: 2 }),
        team: fc.jsonValue({ maxDepth: 1 }),
        user: fc.jsonValue({ maxDepth: 1 }),
        view: fc.jsonValue({ maxDepth: 2 }),
        actions: fc.jsonValue({ maxDepth: 2 }),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(fields, fc.jsonValue()), async (body) => {
        await send(JSON.stringify(body)).catch((error: Error) => expect(error.name).toBe('TimeoutError'));
      }),
      { numRuns: sized({ small: 8, full: 25 }), endOnFailure: true },
    );
    expect(
      await send(
        JSON.stringify(slack.eventBody({ ...slack.store(GENERAL, ADA, 'still there'), channel_type: 'channel' })),
      ),
    ).toBe(200);
    await until('it arrives', () => bot.sink.messages.find(({ text }) => text === 'still there'));
  });

  it('beyond four megabytes is refused unread', async () => {
    expect(await send(`{"text":"${'x'.repeat(5_000_000)}"}`)).toBe(413);
  });
});

it('a post to an unserved address is not found', async () => {
  const response = await fetch(`http://127.0.0.1:${port}/elsewhere`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(404);
  await response.arrayBuffer();
  const message = { ...slack.store(GENERAL, ADA, 'still there'), channel_type: 'channel' };
  expect(await send(JSON.stringify(slack.eventBody(message)))).toBe(200);
});

it.each(['//', '//[', '/\\'])('the path %s is not found', async (path) => {
  const status = await new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end();
  });
  expect(status).toBe(404);
});

it("strangers' large bodies fill no memory and block nobody", async () => {
  const ends: (number | null)[] = [];
  const stalled = Array.from({ length: 12 }, () => {
    const headers = { 'content-type': JSON_TYPE, 'content-length': 4_000_000 };
    const post = request({ host: '127.0.0.1', port, path: '/slack/events', method: 'POST', headers });
    post
      .on('response', (response) => ends.push(response.resume().statusCode ?? null))
      .on('error', () => ends.push(null));
    post.write('x'.repeat(100_000));
    return post;
  });
  await until('four are refused', () => ends.length >= 4);
  await sleep(200);
  expect(ends).toEqual([503, 503, 503, 503]);
  const event = (text: string) =>
    JSON.stringify(slack.eventBody({ ...slack.store(GENERAL, ADA, text), channel_type: 'channel' }));
  expect(await send(event('still there'))).toBe(200);
  expect(await send(event('x'.repeat(100_000)))).toBe(503);
  for (const post of stalled) post.destroy();
  await expect.poll(() => send(event('y'.repeat(100_000))).catch(() => null)).toBe(200);
  await until('both arrive', () => bot.sink.messages.length === 2);
});
