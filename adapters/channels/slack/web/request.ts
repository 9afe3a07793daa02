import { z } from 'zod';
import { MAX_ANSWER_BYTES, readAtMost } from '../../shared/downloads.ts';

/** Methods whose answers are not needed once the bot stops. */
const ASKING = new Set([
  ...['apps.connections.open', 'assistant.threads.setStatus', 'auth.test', 'files.info'],
  ...['conversations.history', 'conversations.info', 'conversations.members', 'conversations.replies'],
  ...['users.conversations', 'users.info'],
]);

/**
 * Reads whole responses, so that the time limit and retries of a request include its body. When the bot stops, running
 * questions end; posts and whatever begins later do not, because owed replies follow.
 */
export function createFetch(apiUrl: string, stopping?: AbortSignal): typeof globalThis.fetch {
  return async (input, init) => {
    const isApi = String(input).startsWith(apiUrl);
    const isQuestion = ASKING.has(String(input).replace(apiUrl, ''));
    const signals = [init?.signal, isQuestion && stopping?.aborted === false ? stopping : null];
    const signal = AbortSignal.any(signals.filter((one) => one instanceof AbortSignal));
    // The Web API does not redirect, and another server must not get the text of a post.
    const redirect = isApi ? 'manual' : 'follow';
    const response = await globalThis.fetch(input, { ...init, redirect, signal });
    const body = response.body === null ? Buffer.alloc(0) : await readAtMost(response.body, MAX_ANSWER_BYTES);
    const { status, statusText, headers } = response;
    if (body === null || (isApi && !isSlacks(status, body)))
      return new Response(null, { status: 502, statusText: `${NOT_SLACK} (HTTP ${status})` });
    return new Response(body.byteLength === 0 ? null : new Uint8Array(body), { status, statusText, headers });
  };
}

/** Followed by the status that was really received. */
export const NOT_SLACK = 'The response does not come from Slack';

const answerSchema = z.union([
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);

/** Answers with these are read by their status: a proxy may have refused the size, or limit the rate. */
const BY_STATUS = new Set([413, 429]);

/**
 * Slack answers with JSON and 200. The library takes any other body for the name of an error, which would be Slack's
 * refusal, and other statuses for errors that no retry helps.
 */
function isSlacks(status: number, body: Buffer): boolean {
  if (status >= 500 || BY_STATUS.has(status)) return true;
  if (status !== 200) return false;
  try {
    return answerSchema.safeParse(JSON.parse(body.toString())).success;
  } catch {
    return false;
  }
}
