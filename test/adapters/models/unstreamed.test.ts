import { describe, expect, it } from 'vitest';
import { withStreams } from '../../../adapters/models/ai-sdk/wire/unstreamed.ts';

/** A response in parts, which counts how many were read. */
function respond(parts: readonly string[], headers: Record<string, string> = {}) {
  const seen = { read: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const part = parts[seen.read];
        seen.read += 1;
        if (part === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(part));
      },
      cancel() {
        seen.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  const response = withStreams(async () => new Response(body, { headers }))('http://127.0.0.1/');
  return { seen, response };
}

const call = (name: string) => ({ id: name, type: 'function', function: { name, arguments: '{}' } });

describe('a response without a stream', () => {
  it('begins after blank parts', async () => {
    const whole = JSON.stringify({ choices: [{ message: { content: 'Hi.' } }] });
    const { response } = respond(['', ' \n', '\n', whole.slice(0, 9), whole.slice(9)]);
    expect(await (await response).text()).toContain('"delta":{"content":"Hi."}');
  });

  it('numbers the calls of a whole answer', async () => {
    const whole = { choices: [{ message: { content: null, tool_calls: [call('roll'), call('look')] } }] };
    const text = await (await respond([JSON.stringify(whole)]).response).text();
    const { choices } = JSON.parse(text.slice('data: '.length, text.indexOf('\n')));
    expect(choices[0].delta.tool_calls.map(({ index }: { index: number }) => index)).toEqual([0, 1]);
  });

  it.each([
    [429, 429],
    ['503', 503],
    [200, 500],
    [399, 500],
    [600, 500],
    ['busy', 500],
  ])('with the error code %s has the status %i', async (code, status) => {
    const { response } = respond([JSON.stringify({ error: { message: 'No.', code } })]);
    expect((await response).status).toBe(status);
  });

  it('is read only so far, and then left', async () => {
    const { seen, response } = respond(['{', ...Array.from({ length: 12 }, () => ' '.repeat(1_000_000))]);
    expect((await response).status).toBe(502);
    expect(seen).toEqual({ read: 5, isCancelled: true });
  });
});

describe('a stream', () => {
  it('passes unchanged, without the headers of its encoding', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-length': '3', 'x-request-id': 'r1' };
    const passed = await respond(['\n', 'data: {}', '\n\n'], headers).response;
    expect([...passed.headers]).toEqual([['x-request-id', 'r1']]);
    expect(await passed.text()).toBe('\ndata: {}\n\n');
  });

  it.each([0, 1, 2])('ends for the server after %i parts were read', async (parts) => {
    const { seen, response } = respond(['data: 1\n', 'data: 2\n', 'data: 3\n']);
    const reader = (await response).body?.getReader();
    for (let part = 0; part < parts; part += 1) await reader?.read();
    await reader?.cancel();
    expect(seen.isCancelled).toBe(true);
  });
});
