import { overflowing, says } from '../failures/phrases.ts';
import { parseJson } from '../wire/parse-json.ts';
import { headOf } from '../wire/response.ts';
import {
  type Change,
  lowered,
  type Request,
  requestSchema,
  withAlternation,
  withAnswers,
  withContent,
  without,
  withoutKey,
  withoutReasoning,
  withoutSystem,
  withoutThinking,
  withReasoning,
  withShortIds,
  withSignatures,
  withSystemText,
} from './request-changes.ts';

/** The statuses of servers that do not accept a field or a role. */
const REFUSED: ReadonlySet<number> = new Set([400, 422, 500, 501]);
const MAX_CHARACTERS = 8000;

/**
 * Servers accept different fields and roles, and nothing but a refusal shows which. A refused request is sent again as the
 * server needs it, and so are all later ones.
 */
export function withoutRefusedFields(send: typeof fetch): typeof fetch {
  const learned = new Map<string, Change>();
  return async (input, init) => {
    const given = init?.body;
    if (typeof given !== 'string') return await send(input, init);
    for (let count = 0; ; count += 1) {
      const body = changed(given, learned);
      const response = await send(input, { ...init, body });
      if (!REFUSED.has(response.status)) return response;
      const text = await response.text();
      const found = count < LESSONS.length ? changeFor(text.slice(0, MAX_CHARACTERS), body) : null;
      if (found === null) return new Response(text, headOf(response));
      learned.set(found.name, found.change);
    }
  };
}

function changed(given: string, learned: ReadonlyMap<string, Change>): string {
  const asked = learned.size === 0 ? undefined : requestIn(given);
  if (asked === undefined) return given;
  return JSON.stringify([...learned.values()].reduce((request, change) => change(request), asked));
}

function requestIn(body: string): Request | undefined {
  return requestSchema.safeParse(parseJson(body)).data;
}

interface Lesson {
  readonly name: string;
  readonly refusal: RegExp;
  /** `number` is the limit in the refusal, if it has one. */
  change(request: Request, number: number): Request;
}

/** A request that was on its way may need a change that others have shown. */
function changeFor(text: string, body: string) {
  const sent = requestIn(body);
  if (sent === undefined || says(text, overflowing)) return null;
  for (const { name, refusal, change } of LESSONS) {
    const match = refusal.exec(text);
    if (match === null) continue;
    const bound = (given: Request) => change(given, Number(match[1]));
    if (bound(sent) !== sent) return { name, change: bound };
  }
  return null;
}

const LESSONS: readonly Lesson[] = [
  {
    name: 'the name of the limit',
    refusal: /\bmax_tokens\b[^\n]{0,120}\bmax_completion_tokens\b/i,
    change: (given) => {
      if (!('max_tokens' in given)) return given;
      const { max_tokens, ...rest } = given;
      return { ...rest, max_completion_tokens: max_tokens };
    },
  },
  {
    name: 'the size of the limit',
    refusal: /\bmax_(?:completion_)?tokens\b[^\n]{0,120}?(?:at most |> |less than or equal to `?|\[1, ?)(\d+)/i,
    change: (given, most) => lowered(lowered(given, 'max_tokens', most), 'max_completion_tokens', most),
  },
  { name: 'the choice of tools', refusal: /\btool_choice\b/i, change: without('tool_choice') },
  { name: 'usage', refusal: /\bstream_options\b/i, change: without('stream_options') },
  {
    name: 'JSON',
    refusal: /\bresponse_format\b|\bjson_object\b|\bjson mode\b|json_validate_failed/i,
    change: without('response_format'),
  },
  {
    name: 'the system role',
    refusal:
      /\bsystem role\b|\brole['"`]? does not support\b|\broles must alternate\b|\bonly user(?:,| and) assistant\b|unknown variant ['"`]?developer|unexpected role ['"`]?system|\bdeveloper instruction\b/i,
    change: withoutSystem,
  },
  {
    name: 'empty content',
    refusal: /\bcontent\b[^\n]{0,80}\b(?:null|none|a string|required)\b/i,
    change: withContent,
  },
  { name: 'a list as system', refusal: /\bsystem\b[^\n]{0,40}\b(?:valid|a) string\b/i, change: withSystemText },
  { name: 'the time of caches', refusal: /\bttl\b/i, change: withoutKey('ttl') },
  { name: 'cache marks', refusal: /\bcache_control\b/i, change: withoutKey('cache_control') },
  { name: 'a person after results', refusal: /\bafter role ['"`]?tool|\broles must alternate\b/i, change: withAnswers },
  {
    name: 'alternation',
    refusal: /\balternat(?:e|ing)\b|\bfirst message (?:must|should)\b|\bstart with a user\b/i,
    change: withAlternation,
  },
  {
    name: 'returned reasoning',
    // The word alone may be about models that reason.
    refusal:
      /(?:\breasoning_(?:content|details)|['"`.]reasoning)\b[^\n]{0,120}\b(?:unsupported|not (?:supported|permitted|allowed)|unknown|unrecognized|unexpected)\b|\b(?:unsupported|unknown|unrecognized|unexpected|extra|remove)\b[^\n]{0,120}(?:\breasoning_(?:content|details)|['"`.]reasoning)\b/i,
    change: withoutReasoning,
  },
  { name: 'reasoning', refusal: /\breasoning_content\b/i, change: withReasoning },
  { name: 'thinking', refusal: /\bstart with a thinking block\b|\bexpected `thinking`/i, change: withoutThinking },
  { name: 'signatures', refusal: /\bthought_signature\b/i, change: withSignatures },
  { name: 'call ids', refusal: /\btool[ _]call[ _]id\b/i, change: withShortIds },
];
