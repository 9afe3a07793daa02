import { hash } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../wire/parse-json.ts';

const call = z.looseObject({ id: z.string() });
const message = z.looseObject({
  role: z.string(),
  content: z.unknown(),
  tool_calls: z.array(call).optional(),
  tool_call_id: z.string().optional(),
});
export const requestSchema = z.looseObject({ messages: z.array(message) });
export type Request = z.infer<typeof requestSchema>;

type Message = Request['messages'][number];

/** The request as the server needs it; the same object if there is nothing to change. */
export type Change = (request: Request) => Request;

export function without(field: string): Change {
  return (given) => {
    if (given[field] === undefined) return given;
    const { [field]: _, ...rest } = given;
    return requestSchema.parse(rest);
  };
}

/** Wherever it is in the request. */
export function withoutKey(key: string): Change {
  return (given) => {
    const text = JSON.stringify(given);
    const left = JSON.stringify(given, (name, value: unknown) => (name === key ? undefined : value));
    return left === text ? given : requestSchema.parse(parseJson(left));
  };
}

export function lowered(given: Request, field: string, most: number): Request {
  const asked = given[field];
  return typeof asked === 'number' && most > 0 && asked > most ? { ...given, [field]: most } : given;
}

/** The first message of a person begins with the system text instead. */
export function withoutSystem(given: Request): Request {
  const isSystem = ({ role }: Message) => role === 'system' || role === 'developer';
  const texts = given.messages.filter(isSystem).map(({ content }) => (typeof content === 'string' ? content : ''));
  if (texts.length === 0) return given;
  const [first, ...others] = given.messages.filter((one) => !isSystem(one));
  if (first?.role !== 'user') return given;
  return { ...given, messages: [{ ...first, content: below(texts.join('\n\n'), first.content) }, ...others] };
}

function below(heading: string, content: unknown): unknown {
  return Array.isArray(content) ? [{ type: 'text', text: heading }, ...content] : `${heading}\n\n${content}`;
}

export function withContent(given: Request): Request {
  if (!given.messages.some(({ content }) => content === null)) return given;
  return { ...given, messages: given.messages.map((one) => (one.content === null ? { ...one, content: '' } : one)) };
}

/** Mistral accepts nine letters and digits. */
const ID_LENGTH = 9;

export function withShortIds(given: Request): Request {
  const isLong = (id: string | undefined) => id !== undefined && !/^[a-f\d]{9}$/.test(id);
  const ids = given.messages.flatMap(({ tool_calls = [], tool_call_id }) => [
    tool_call_id,
    ...tool_calls.map(({ id }) => id),
  ]);
  if (!ids.some(isLong)) return given;
  return { ...given, messages: given.messages.map(withShortId) };
}

function withShortId(one: Message): Message {
  const { tool_calls, tool_call_id } = one;
  return {
    ...one,
    ...(tool_calls === undefined ? {} : { tool_calls: tool_calls.map((made) => ({ ...made, id: shortId(made.id) })) }),
    ...(tool_call_id === undefined ? {} : { tool_call_id: shortId(tool_call_id) }),
  };
}

function shortId(id: string): string {
  return hash('sha256', id, 'hex').slice(0, ID_LENGTH);
}

const systemList = z.array(z.looseObject({ text: z.string() }));

/** Some gateways to Anthropic read one text only. */
export function withSystemText(given: Request): Request {
  const blocks = systemList.safeParse(given['system']).data;
  return blocks === undefined ? given : { ...given, system: blocks.map(({ text }) => text).join('\n\n') };
}

/** A turn that failed leaves the results of its tools without an answer. */
export function withAnswers(given: Request): Request {
  const messages = given.messages.flatMap((one, index) => {
    const isOpen = one.role === 'user' && given.messages[index - 1]?.role === 'tool';
    return isOpen ? [{ role: 'assistant', content: '(no answer)' }, one] : [one];
  });
  return messages.length === given.messages.length ? given : { ...given, messages };
}

/** Templates and servers that accept only a person, the model and the person again. */
export function withAlternation(given: Request): Request {
  const messages: Message[] = [];
  for (const one of given.messages) {
    const last = messages.at(-1);
    if (one.role === 'assistant' && (last === undefined || last.role === 'system')) {
      messages.push({ role: 'user', content: '(no message)' }, one);
    } else if (last !== undefined && canJoin(last, one)) {
      messages[messages.length - 1] = { ...last, content: `${last.content}\n\n${one.content}` };
    } else messages.push(one);
  }
  const isSame = messages.length === given.messages.length && messages.every((one, at) => one === given.messages[at]);
  return isSame ? given : { ...given, messages };
}

function canJoin(one: Message, next: Message): boolean {
  if (one.role !== next.role || (one.role !== 'user' && one.role !== 'assistant')) return false;
  return [one, next].every(({ content, tool_calls }) => typeof content === 'string' && tool_calls === undefined);
}

/** Of the model's own messages. Servers that only show reasoning do not read it. */
export function withoutReasoning(given: Request): Request {
  const messages = given.messages.map(({ reasoning, reasoning_content, reasoning_details, ...one }) => one);
  const isSame = given.messages.every((one, at) => Object.keys(one).length === Object.keys(messages[at] ?? {}).length);
  return isSame ? given : { ...given, messages };
}

/** Strata keeps reasoning within a turn only. DeepSeek accepts a space for it, but no empty text. */
export function withReasoning(given: Request): Request {
  const isBare = (one: Message) => one.role === 'assistant' && one['reasoning_content'] === undefined;
  if (!given.messages.some(isBare)) return given;
  return { ...given, messages: given.messages.map((one) => (isBare(one) ? { ...one, reasoning_content: ' ' } : one)) };
}

const thinking = z.looseObject({ budget_tokens: z.number().optional() });
const blocks = z.array(z.looseObject({ type: z.string() }));

/**
 * Claude wants the reasoning before its calls back until it has read their results, but another model may have made the
 * calls. Such a request goes without reasoning and without the room for it; the answer to the next message may reason
 * again.
 */
export function withoutThinking(given: Request): Request {
  const asked = thinking.safeParse(given['thinking']).data;
  const last = blocksOf(given.messages.at(-1));
  if (asked === undefined || !last.some(({ type }) => type === 'tool_result')) return given;
  const [first] = blocksOf(given.messages.findLast(({ role }) => role === 'assistant'));
  if (first !== undefined && /thinking$/.test(first.type)) return given;
  const { thinking: _, max_tokens, ...rest } = given;
  const limit = typeof max_tokens === 'number' ? { max_tokens: max_tokens - (asked.budget_tokens ?? 0) } : {};
  return requestSchema.parse({ ...rest, ...limit });
}

function blocksOf(one: Message | undefined) {
  return blocks.safeParse(one?.content).data ?? [];
}

/** What Google documents for calls whose signature is not known. */
const SIGNATURE = { google: { thought_signature: 'skip_thought_signature_validator' } };

export function withSignatures(given: Request): Request {
  const isBare = ({ tool_calls = [] }: Message) => tool_calls.some((made) => made['extra_content'] === undefined);
  if (!given.messages.some(isBare)) return given;
  return { ...given, messages: given.messages.map((one) => (isBare(one) ? signed(one) : one)) };
}

function signed({ tool_calls = [], ...rest }: Message): Message {
  return { ...rest, tool_calls: tool_calls.map((made) => ({ extra_content: SIGNATURE, ...made })) };
}
