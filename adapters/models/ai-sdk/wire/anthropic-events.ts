import { z } from 'zod';
import * as loose from './loose.ts';
import { createRest, DATA, dataLine, dataOf, withLines } from './response.ts';

const EVENTS: ReadonlySet<string> = new Set([
  ...['message_start', 'message_delta', 'message_stop', 'ping', 'error'],
  ...['content_block_start', 'content_block_delta', 'content_block_stop'],
]);
const BLOCKS: ReadonlySet<string> = new Set([
  ...['text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use', 'mcp_tool_use'],
  ...['compaction', 'fallback', 'container_upload'],
]);
const DELTAS: ReadonlySet<string> = new Set([
  ...['text_delta', 'input_json_delta', 'thinking_delta', 'signature_delta'],
  ...['citations_delta', 'compaction_delta'],
]);
const RESULT = /_result$/;

const kind = z.looseObject({ type: z.string() });
const begun = z.object({ type: z.literal('text'), text: z.string().min(1) });
const other = loose.count;
const count = other.transform((given) => given ?? 0);
const cached = { cache_read_input_tokens: other, cache_creation_input_tokens: other };
const started = z.looseObject({ input_tokens: count, output_tokens: count, ...cached });
const ended = z.looseObject({ input_tokens: other, output_tokens: count, ...cached });
const known = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('message_start'), message: z.looseObject({ usage: started.catch(noCounts) }) }),
  z.looseObject({
    type: z.literal('message_delta'),
    // An answer that breaks off has no `message_stop`.
    delta: z.looseObject({
      stop_reason: z
        .string()
        .nullish()
        .transform((given) => given ?? 'end_turn'),
    }),
    usage: ended.catch({ output_tokens: 0 }),
  }),
  z.looseObject({ type: z.literal('content_block_start'), index: z.number(), content_block: kind }),
  z.looseObject({ type: z.literal('content_block_delta'), index: z.number(), delta: kind }),
  z.looseObject({ type: z.literal('content_block_stop'), index: z.number() }),
]);
type Known = z.infer<typeof known>;

function noCounts() {
  return { input_tokens: 0, output_tokens: 0 };
}

/**
 * The provider package rejects a whole answer for an event or a block that it does not know, although Anthropic adds new
 * ones. Here, they are left out, and missing counts become zero.
 */
export function withKnownEvents(send: typeof fetch): typeof fetch {
  return withLines(send, () => {
    const unknownBlocks = new Set<number>();
    let isUnfinished = false;
    return {
      change: (line) => {
        if (!line.startsWith(DATA)) return line;
        isUnfinished = REASON.test(line) || (isUnfinished && !STOPPED.test(line));
        return readable(line, unknownBlocks);
      },
      isLast: (line) => STOPPED.test(line) && kind.safeParse(dataOf(line)).data?.type === 'message_stop',
      restMs: createRest({ ended: ENDED, goesOn: null, counts: COUNTED }),
      missing: () => (isUnfinished ? `${dataLine({ type: 'message_stop' })}\n\n` : ''),
    };
  });
}

const STOPPED = /^data:.{0,1000}"message_stop"/;
const REASON = /^data:(?=.{0,1000}"message_delta").{0,1000}"stop_reason" {0,2}: {0,2}"\w/;
const ENDED = new RegExp(`${REASON.source}|${STOPPED.source}`);
const COUNTED = /"usage" {0,2}: {0,2}\{/;

function readable(line: string, unknownBlocks: Set<number>): string {
  const value = dataOf(line);
  const type = kind.safeParse(value).data?.type;
  if (type === undefined) return line;
  if (!EVENTS.has(type)) return '';
  const event = known.safeParse(value).data;
  if (event === undefined) return line;
  return isLeftOut(event, unknownBlocks) ? '' : withBegunText(event);
}

/** The provider package ignores text with which a block begins. */
function withBegunText(event: Known): string {
  const line = dataLine(event);
  if (event.type !== 'content_block_start') return line;
  const text = begun.safeParse(event.content_block).data?.text;
  if (text === undefined) return line;
  const delta = { type: 'content_block_delta', index: event.index, delta: { type: 'text_delta', text } };
  return `${line}\n\n${dataLine(delta)}`;
}

function isLeftOut(event: Known, unknownBlocks: Set<number>): boolean {
  switch (event.type) {
    case 'content_block_start': {
      const { type } = event.content_block;
      const isKnown = BLOCKS.has(type) || RESULT.test(type);
      if (isKnown) unknownBlocks.delete(event.index);
      else unknownBlocks.add(event.index);
      return !isKnown;
    }
    case 'content_block_delta':
      return unknownBlocks.has(event.index) || !DELTAS.has(event.delta.type);
    case 'content_block_stop':
      return unknownBlocks.has(event.index);
    default:
      return false;
  }
}
