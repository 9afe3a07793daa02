import { APICallError, LoadAPIKeyError, RetryError, UnsupportedFunctionalityError } from 'ai';
import { describe, expect, test } from 'vitest';
import { classify } from '../../../adapters/models/ai-sdk/failures/classify.ts';
import { answerRefusals, filterRefusals } from '../../fixtures/models-filters.ts';
import { otherOverflows, otherRefusals, overflows, type Refusal } from '../../fixtures/models-refusals.ts';

const now = Date.parse('2026-11-20T10:00:00Z');

/** As the SDK throws it: the message of the body where it can be read, and the request, which quotes the conversation. */
function thrown({ status, body, headers = {} }: Refusal): APICallError {
  return new APICallError({
    message: messageIn(body) ?? 'Bad Request',
    url: 'https://example.org/v1/chat/completions',
    requestBodyValues: {
      messages: [{ role: 'user', content: 'context_length_exceeded! 429 rate limit, prompt is too long' }],
    },
    statusCode: status,
    responseHeaders: { ...headers },
    responseBody: body,
  });
}

function messageIn(body: string): string | null {
  try {
    return JSON.parse(body).error?.message ?? null;
  } catch {
    return null;
  }
}

describe('classify', () => {
  test('says that an answer broke off', () => {
    const about = { url: 'https://example.org', requestBodyValues: {}, statusCode: 200 };
    const cause = new TypeError('terminated');
    const lost = new APICallError({ ...about, message: 'Failed to process successful response', cause });
    const detail = 'the server closed the connection before the answer was complete';
    for (const error of [lost, cause, new Error('Response stream ended without a finish reason.')]) {
      expect(classify(error, now)).toMatchObject({ reason: 'transient', detail });
    }
  });

  // Shows: P22
  test.each([...overflows, ...otherOverflows])('$name is an overflow', (refusal) => {
    expect(classify(thrown(refusal), now)).toMatchObject({ reason: 'overflow', windowTokens: refusal.windowTokens });
  });

  test.each([...otherRefusals, ...filterRefusals, ...answerRefusals])('$name is $reason', (refusal) => {
    const { reason, retryAfterMs, windowTokens } = classify(thrown(refusal), now);
    expect(reason).toBe(refusal.reason);
    expect(windowTokens).toBeNull();
    if (refusal.retryAfterMs !== undefined) expect(retryAfterMs).toBe(refusal.retryAfterMs);
  });

  test.each([...overflows, ...otherRefusals, ...filterRefusals])('$name is the same inside of wrappers', (refusal) => {
    const wrapped = new RetryError({
      message: 'Failed after 3 attempts.',
      reason: 'maxRetriesExceeded',
      errors: [new Error('x'), thrown(refusal)],
    });
    expect(classify(wrapped, now).reason).toBe(refusal.reason);
    expect(classify(new Error('outer', { cause: thrown(refusal) }), now).reason).toBe(refusal.reason);
  });

  // Shows: T20
  test('says which limit of Google is used up', () => {
    const message =
      'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. To monitor your current usage, head to: https://ai.dev/usage?tab=rate-limit. \n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 20, model: gemini-3-flash\nPlease retry in 12.2s.';
    const body = JSON.stringify({ error: { message } });
    const { reason, detail } = classify(thrown({ name: 'limited', status: 429, body, reason: 'rate-limit' }), now);
    expect(reason).toBe('rate-limit');
    expect(detail).toContain('free_tier_requests, limit: 20');
  });

  test('waits for the limit of Anthropic that is used up', () => {
    const headers = {
      'anthropic-ratelimit-requests-remaining': '7',
      'anthropic-ratelimit-requests-reset': '2026-11-20T10:00:50Z',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-20T10:00:08Z',
    };
    const limited = thrown({ name: 'limited', status: 429, body: '{}', headers, reason: 'rate-limit' });
    expect(classify(limited, now).retryAfterMs).toBe(8000);
  });

  test('the text of the conversation is no evidence', () => {
    const error = new APICallError({
      message: 'Bad Request',
      url: 'https://example.org',
      requestBodyValues: { messages: ['prompt is too long: 5 > 4 maximum', 'rate limit'] },
      statusCode: 400,
    });
    expect(classify(error, now).reason).toBe('fatal');
  });

  test.each([
    [new DOMException('late', 'TimeoutError'), 'timeout'],
    [new DOMException('stop', 'AbortError'), 'aborted'],
    [new LoadAPIKeyError({ message: 'API key is missing' }), 'auth'],
    [new UnsupportedFunctionalityError({ functionality: 'tool choice' }), 'unsupported'],
    [new TypeError('terminated'), 'transient'],
    [new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }), 'transient'],
    [
      new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'UND_ERR_HEADERS_TIMEOUT' }) }),
      'timeout',
    ],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'transient'],
    [
      {
        type: 'error',
        error: { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model' },
      },
      'overflow',
    ],
    ['model requires more system memory', 'fatal'],
    [undefined, 'fatal'],
    [null, 'fatal'],
    [42, 'fatal'],
  ])('%s is %s', (error, reason) => {
    expect(classify(error, now).reason).toBe(reason);
  });

  test.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after-ms': '150' }, 150],
    [{ 'retry-after': 'Fri, 20 Nov 2026 10:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': 'soon', 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6s' }, 6000],
    [{}, null],
  ])('the wait of %j is %s ms', (headers, expected) => {
    const error = thrown({ name: '', status: 429, body: '', headers: { ...headers }, reason: 'rate-limit' });
    expect(classify(error, now).retryAfterMs).toBe(expected);
  });

  test('the detail is one line that holds no key', () => {
    const { detail } = classify(
      thrown({
        name: '',
        status: 401,
        body: '{"error":{"message":"Bad key sk-proj-abcdefgh123\\nuse another"}}',
        reason: 'auth',
      }),
      now,
    );
    expect(detail).toBe('Bad key *** use another (HTTP 401)');
  });

  test('the detail ends with no part of a secret', () => {
    const body = `{"error":{"message":"${'x'.repeat(290)} correct-horse-battery"}}`;
    const error = thrown({ name: '', status: 401, body, headers: {}, reason: 'auth' });
    expect(classify(error, now, ['correct-horse-battery']).detail).toBe(`${'x'.repeat(290)} *** (HTTP 401)`);
  });

  test('the detail hides the longer of two secrets whole', () => {
    const { detail } = classify(new Error('It was sesame-street.'), now, ['sesame', 'sesame-street']);
    expect(detail).toBe('It was ***.');
  });

  test('classifies errors that are circular or very long', () => {
    const loop: Record<string, unknown> = { message: 'prompt is too long' };
    loop['cause'] = loop;
    expect(classify(loop, now).reason).toBe('overflow');
    expect(classify(new Error(`${'x'.repeat(100_000)} prompt is too long`), now).reason).toBe('fatal');
  });
});
