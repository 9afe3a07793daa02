import { z } from 'zod';
import { withLines } from './response.ts';

const PREFIX = 'data:';

const count = z.number().nonnegative().nullable().catch(null);
const details = z.record(z.string(), count).nullable().catch(null);
const usage = z
  .looseObject({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: details,
    completion_tokens_details: details,
  })
  .nullable()
  .catch(null);
const event = z.looseObject({ usage });

/** The provider package rejects a whole event for an unreadable count. Such a count becomes `null` here. */
export function withReadableUsage(send: typeof fetch): typeof fetch {
  return withLines(send, (line) => {
    if (!line.startsWith(PREFIX) || !line.includes('"usage"')) return line;
    const told = event.safeParse(parseJson(line.slice(PREFIX.length))).data;
    return told === undefined ? line : `${PREFIX} ${JSON.stringify(told)}`;
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
