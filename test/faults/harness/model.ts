import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Answer, FAULTS, type Fault, misbehave, said, send } from './model-answers.ts';
import type { Chance } from './random.ts';
import { factsIn, namesIn } from './talk.ts';

/** How often, and in which way, calls go wrong. Shares of all calls of the kind. */
export interface ModelManners {
  readonly replyLatencyMs: readonly [number, number];
  readonly summaryLatencyMs: readonly [number, number];
  readonly replyFaults: number;
  readonly summaryFaults: number;
}

export type Purpose = 'reply' | 'summary' | 'condensation' | 'memories';
/** An OpenAI-compatible server that answers from the request, late, wrongly or not at all. It keeps a record. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly record: ModelRecord;
  /** Ends all failures. */
  recover(): void;
}

export interface ModelRecord {
  readonly calls: Readonly<Record<Purpose, number>>;
  /** Calls that went wrong on purpose. */
  readonly faults: number;
  /** Every completed summary; the store may contain no others. */
  readonly summaries: ReadonlySet<string>;
  /** Problems of requests: calls without results, facts of other conversations, more than the window. */
  readonly complaints: readonly string[];
}

const messageSchema = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(z.object({ text: z.string().optional() })), z.null()]).optional(),
  tool_calls: z.array(z.object({ id: z.string() })).optional(),
  tool_call_id: z.string().optional(),
});
const requestSchema = z.object({
  messages: z.array(messageSchema),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })).optional(),
});
type Request = z.infer<typeof requestSchema>;
type Message = z.infer<typeof messageSchema>;

interface Service {
  readonly chance: Chance;
  readonly manners: ModelManners;
  readonly windowTokens: number;
  readonly record: { calls: Record<Purpose, number>; faults: number; summaries: Set<string>; complaints: string[] };
  /** Questions that were answered with nothing. */
  readonly silences: Set<string>;
  isWell: boolean;
}

export async function createModelServer(options: {
  readonly chance: Chance;
  readonly manners: ModelManners;
  readonly windowTokens: number;
}): Promise<ModelServer> {
  const calls = { reply: 0, summary: 0, condensation: 0, memories: 0 };
  const record = { calls, faults: 0, summaries: new Set<string>(), complaints: [] };
  const service: Service = { ...options, record, silences: new Set(), isWell: false };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      if (request.method !== 'POST') return response.writeHead(404).end();
      return answer(service, response, text).catch((error: unknown) => {
        service.record.complaints.push(`the model server failed: ${String(error)}`);
        response.destroy();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The model server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    record,
    recover() {
      service.isWell = true;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(service: Service, response: ServerResponse, text: string): Promise<void> {
  const { chance, manners, record } = service;
  const request = requestSchema.parse(JSON.parse(text));
  const purpose = purposeOf(request);
  record.calls[purpose] += 1;
  const isReply = purpose === 'reply';
  if (isReply) record.complaints.push(...faultsOf(request));
  const tokens = Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  const [from, to] = isReply ? manners.replyLatencyMs : manners.summaryLatencyMs;
  const latencyMs = chance.between(from, to);
  const isFaulty = chance.happens(isReply ? manners.replyFaults : manners.summaryFaults);
  const drawn = chance.pick(FAULTS);
  await sleep(latencyMs);
  if (tokens > service.windowTokens) {
    record.complaints.push(
      `I6: a request for a ${purpose} of ${tokens} tokens for a window of ${service.windowTokens}`,
    );
  }
  if (isFaulty && !service.isWell) {
    record.faults += 1;
    const instructions = contentOf(request.messages[0] ?? { role: 'system' });
    return misbehave(response, { fault: fitting(service, request, drawn), instructions });
  }
  const given = purposes[purpose](request);
  if (given.summary !== null) record.summaries.add(given.summary);
  send(response, given, tokens);
}

/** To a person a copy of the instructions would be an answer, and to a second question silence means "nothing to save". */
function fitting({ silences }: Service, request: Request, fault: Fault): Fault {
  if (fault === 'a copy' && purposeOf(request) === 'reply') return 'error 500';
  if (fault !== 'empty') return fault;
  const question = contentOf(request.messages.at(-1) ?? { role: 'user' });
  if (silences.has(question)) return 'error 500';
  silences.add(question);
  return fault;
}

/** A provider's token count for the JSON of a request: its punctuation is cheap. */
const CHARACTERS_PER_TOKEN = 5;

function purposeOf({ tools = [], messages }: Request): Purpose {
  const names = tools.map((tool) => tool.function.name);
  if (names.includes('summary_save')) return 'summary';
  if (names.includes('memory_save')) return 'memories';
  const instructions = contentOf(messages[0] ?? { role: 'system' });
  if (instructions.includes(JSON_FORM)) return instructions.includes('{"summary"') ? 'summary' : 'memories';
  return messages.some((message) => contentOf(message).includes('<summaries-')) ? 'condensation' : 'reply';
}

/** How the instructions begin the form of an answer without tools, which is asked for after several failures. */
const JSON_FORM = 'Answer with one JSON object';

function contentOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text = '' }) => text).join('\n');
}

/** I7 and I9, as a provider sees them: every call is followed by its results, and nothing is from elsewhere. */
function faultsOf({ messages }: Request): readonly string[] {
  const faults: string[] = [];
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id ?? '')) faults.push('I7: a result has no call');
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (open.length > 0) faults.push('I7: a call has no result');
    open = (message.tool_calls ?? []).map(({ id }) => id);
  }
  if (open.length > 0) faults.push('I7: a call has no result');
  const texts = messages.map(contentOf).join('\n');
  const places = new Set([...namesIn(texts), ...factsIn(texts)].map(({ place }) => place));
  if (places.size > 1) faults.push(`I9: one request holds words of the conversations ${[...places].join(' and ')}`);
  return faults;
}

const purposes: Readonly<Record<Purpose, (request: Request) => Answer>> = {
  reply: replyTo,
  summary: (request) => summaryOf(request, true),
  memories: (request) => summaryOf(request, false),
  condensation: ({ messages }) => {
    const text = messages.map(contentOf).join('\n');
    const ranges = [...text.matchAll(/parcels? of the messages (\d+) to (\d+)/gu)].map(([, from, to]) => [
      Number(from),
      Number(to),
    ]);
    const [from, to] = [
      Math.min(...ranges.map(([first = 0]) => first)),
      Math.max(...ranges.map(([, last = 0]) => last)),
    ];
    const summary = `Ada spoke of the parcels of the messages ${from} to ${to}.`;
    return { ...said(summary), summary };
  },
};

/** Names every unanswered message, to show what this reply has read. */
function replyTo({ messages }: Request): Answer {
  const since = messages.findLastIndex(({ role, tool_calls: calls }) => role === 'assistant' && calls === undefined);
  const unanswered = messages.slice(since + 1).filter(({ role }) => role === 'user');
  const names = [...new Set(unanswered.flatMap((message) => namesIn(contentOf(message)).map(({ name }) => name)))];
  const newest = names.at(-1) ?? 'nobody';
  const hasLooked = messages.at(-1)?.role === 'tool';
  if (!hasLooked && /[05]$/u.test(newest)) {
    return { ...called([callOf('transcript_search', { query: `parcel ${newest}` })]), summary: null };
  }
  return said(`Answer to ${names.join(', ')}. Noted and kept in mind.`);
}

const LINE = /^\[#(\d+) \| [^\]]*\] (.*)$/gmu;

function summaryOf({ messages, tools = [] }: Request, withSummary: boolean): Answer {
  if (messages.at(-1)?.role === 'tool') return said('Done.');
  const text = messages.map(contentOf).join('\n');
  const transcript = /<transcript-\w+>\n([\s\S]*)\n<\/transcript-\w+>/u.exec(text)?.[1] ?? '';
  const lines = [...transcript.matchAll(LINE)].map(([, seq = '', said = '']) => ({ seq: Number(seq), said }));
  const facts = lines.flatMap(({ seq, said }) =>
    factsIn(said).map(({ text: fact }) => ({ kind: 'fact', text: fact, sources: [seq] })),
  );
  const memories = facts.map((fact) => callOf('memory_save', fact));
  const summary = `Ada spoke of the parcels of the messages ${lines[0]?.seq} to ${lines.at(-1)?.seq}.`;
  if (tools.length === 0) {
    const answer = withSummary ? { summary, memories: facts } : { memories: facts };
    return { ...said(JSON.stringify(answer)), summary: withSummary ? summary : null };
  }
  if (!withSummary) return memories.length === 0 ? said('NOTHING') : { ...called(memories), summary: null };
  return { ...called([callOf('summary_save', { summary }), ...memories]), summary };
}

function called(calls: readonly object[]): Omit<Answer, 'summary'> {
  const deltas = calls.map((call, index) => ({
    tool_calls: [{ index, id: `call_${index}`, type: 'function', function: call }],
  }));
  return { deltas, reason: 'tool_calls' };
}

function callOf(name: string, input: object): object {
  return { name, arguments: JSON.stringify(input) };
}
