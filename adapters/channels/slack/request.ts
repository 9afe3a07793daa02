import { z } from 'zod';

/** Methods whose answers nobody needs once the bot stops. */
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
    const isQuestion = ASKING.has(String(input).replace(apiUrl, ''));
    const signals = [init?.signal, isQuestion && stopping?.aborted === false ? stopping : null];
    const signal = AbortSignal.any(signals.filter((one) => one instanceof AbortSignal));
    const response = await globalThis.fetch(input, { ...init, signal });
    const body = await response.arrayBuffer();
    const { status, statusText, headers } = response;
    // The library takes anything but JSON for the name of an error, which would be Slack's refusal.
    if (status === 200 && String(input).startsWith(apiUrl) && !isSlacks(new TextDecoder().decode(body)))
      return new Response(null, { status: 502, statusText: 'The response does not come from Slack' });
    return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
  };
}

const answerSchema = z.union([
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);

function isSlacks(text: string): boolean {
  try {
    return answerSchema.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}
