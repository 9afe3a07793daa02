import { z } from 'zod';
import { parseJson } from './parse-json.ts';
import { withLines } from './response.ts';

const PREFIX = 'data:';
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
const count = z.number().nonnegative().catch(0).default(0);
const started = z.looseObject({ input_tokens: count, output_tokens: count });
const ended = z.looseObject({ output_tokens: count });
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
    return (line) => {
      if (!line.startsWith(PREFIX)) return line;
      const value = parseJson(line.slice(PREFIX.length));
      const type = kind.safeParse(value).data?.type;
      if (type === undefined) return line;
      if (!EVENTS.has(type)) return '';
      const event = known.safeParse(value).data;
      if (event === undefined) return line;
      return isLeftOut(event, unknownBlocks) ? '' : `${PREFIX} ${JSON.stringify(event)}`;
    };
  });
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
