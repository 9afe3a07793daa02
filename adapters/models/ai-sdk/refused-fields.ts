import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from './parse-json.ts';
import { overflowing, says } from './phrases.ts';
import { headOf } from './response.ts';

const call = z.looseObject({ id: z.string() });
const message = z.looseObject({
  role: z.string(),
  content: z.unknown(),
  tool_calls: z.array(call).optional(),
  tool_call_id: z.string().optional(),
});
const request = z.looseObject({ messages: z.array(message) });
type Request = z.infer<typeof request>;

/** The request without what was refused; the same object if it does not have it. */
type Change = (request: Request) => Request;

/** The statuses of servers that do not accept a field or a role. */
const REFUSED: ReadonlySet<number> = new Set([400, 422, 500, 501]);
const MAX_CHARACTERS = 8000;

/**
 * Chat servers differ in what they accept, and tell only by refusing it. A refused request is sent again without that
 * part, as are all later ones.
 */
export function withoutRefusedFields(send: typeof fetch): typeof fetch {
  const learned = new Map<string, Change>();
  return async (input, init) => {
    const asked = request.safeParse(typeof init?.body === 'string' ? parseJson(init.body) : null).data;
    if (asked === undefined) return await send(input, init);
    for (;;) {
      const sent = [...learned.values()].reduce((changed, change) => change(changed), asked);
      const response = await send(input, { ...init, body: JSON.stringify(sent) });
      if (!REFUSED.has(response.status)) return response;
      const text = await response.text();
      const found = changeFor(text.slice(0, MAX_CHARACTERS), sent, learned);
      if (found === null) return new Response(text, headOf(response));
      learned.set(found.name, found.change);
    }
  };
}

interface Lesson {
  readonly name: string;
  readonly refusal: RegExp;
  /** `number` is the limit in the refusal, if it has one. */
  change(request: Request, number: number): Request;
}

function changeFor(text: string, sent: Request, learned: ReadonlyMap<string, Change>) {
  if (says(text, overflowing)) return null;
  for (const { name, refusal, change } of LESSONS) {
    const match = learned.has(name) ? null : refusal.exec(text);
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
  { name: 'the time of caches', refusal: /\bttl\b/i, change: withoutKey('ttl') },
  { name: 'cache marks', refusal: /\bcache_control\b/i, change: withoutKey('cache_control') },
  { name: 'call ids', refusal: /\btool[ _]call[ _]id\b/i, change: withShortIds },
];

function without(field: string): Lesson['change'] {
  return (given) => {
    if (given[field] === undefined) return given;
    const { [field]: _, ...rest } = given;
    return request.parse(rest);
  };
}

/** Wherever it is in the request. */
function withoutKey(key: string): Lesson['change'] {
  return (given) => {
    const text = JSON.stringify(given);
    const left = JSON.stringify(given, (name, value: unknown) => (name === key ? undefined : value));
    return left === text ? given : request.parse(parseJson(left));
  };
}

function lowered(given: Request, field: string, most: number): Request {
  const asked = given[field];
  return typeof asked === 'number' && most > 0 && asked > most ? { ...given, [field]: most } : given;
}

/** The first message of a person begins with the system text instead. */
function withoutSystem(given: Request): Request {
  const isSystem = ({ role }: Request['messages'][number]) => role === 'system' || role === 'developer';
  const texts = given.messages.filter(isSystem).map(({ content }) => (typeof content === 'string' ? content : ''));
  if (texts.length === 0) return given;
  const [first, ...others] = given.messages.filter((one) => !isSystem(one));
  if (first?.role !== 'user') return given;
  return { ...given, messages: [{ ...first, content: below(texts.join('\n\n'), first.content) }, ...others] };
}

function below(heading: string, content: unknown): unknown {
  return Array.isArray(content) ? [{ type: 'text', text: heading }, ...content] : `${heading}\n\n${content}`;
}

function withContent(given: Request): Request {
  if (!given.messages.some(({ content }) => content === null)) return given;
  return { ...given, messages: given.messages.map((one) => (one.content === null ? { ...one, content: '' } : one)) };
}

/** Mistral accepts nine letters and digits. */
const ID_LENGTH = 9;

function withShortIds(given: Request): Request {
  const isLong = (id: string | undefined) => id !== undefined && !/^[a-f\d]{9}$/.test(id);
  const ids = given.messages.flatMap(({ tool_calls = [], tool_call_id }) => [
    tool_call_id,
    ...tool_calls.map(({ id }) => id),
  ]);
  if (!ids.some(isLong)) return given;
  return { ...given, messages: given.messages.map(withShortId) };
}

function withShortId(one: Request['messages'][number]): Request['messages'][number] {
  const { tool_calls, tool_call_id } = one;
  return {
    ...one,
    ...(tool_calls === undefined ? {} : { tool_calls: tool_calls.map((made) => ({ ...made, id: shortId(made.id) })) }),
    ...(tool_call_id === undefined ? {} : { tool_call_id: shortId(tool_call_id) }),
  };
}

function shortId(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, ID_LENGTH);
}
