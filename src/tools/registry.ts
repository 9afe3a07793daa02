import { z } from 'zod';
import { describe, isStrataError, StrataError } from '../domain/errors.ts';
import { TOOL_HELP } from '../domain/lookups.ts';
import type { BlobId, JsonValue, ToolResultPart } from '../domain/message.ts';
import type { ToolOutcome } from '../hooks/hooks.ts';
import type { ToolCall, ToolSpec } from '../ports/model.ts';
import type { Services } from '../services.ts';
import { limitWork, rejection } from '../util/async/limit.ts';
import { defineTool, type Tool, type ToolContext } from './define.ts';
import { looseInput } from './loose-input.ts';
import { offload } from './offload.ts';
import { sizesFor } from './result-sizes.ts';
import { resultText } from './result-text.ts';
import { leanSchema } from './schema.ts';
import type { ChildAnswer, ChildTask } from './spawn.ts';

const TIME_LIMIT_MS = 60_000;

/** The tools by name. Every call ends in a result that the model can read. */
export interface ToolRegistry {
  /** Specifications of the named tools. Throws `NOT_FOUND` for an unknown name. */
  specs(names: readonly string[]): readonly ToolSpec[];
  /**
   * Runs one of the `offered` tools, or one that the offered `tool_help` names. A call of any other tool ends in an error
   * result, even if a tool with that name exists.
   */
  run(call: ToolCall, context: ToolContext, offered: readonly ToolSpec[]): Promise<ToolResultPart>;
}

export interface ToolRegistryOptions {
  readonly services: Pick<Services, 'store' | 'events' | 'clock' | 'random' | 'hooks' | 'agents'>;
  readonly tools: readonly Tool[];
  /** Time limit for one call. Default: a minute. */
  readonly timeLimitMs?: number;
}

interface Known {
  readonly tool: Tool;
  readonly spec: ToolSpec;
}

/** Throws `TOOL_INVALID` and `TOOL_DUPLICATE`. */
export function createToolRegistry({
  services,
  tools,
  timeLimitMs = TIME_LIMIT_MS,
}: ToolRegistryOptions): ToolRegistry {
  const known = new Map<string, Known>();
  for (const tool of tools) {
    if (known.has(tool.name)) throw new StrataError('TOOL_DUPLICATE', { tool: tool.name });
    known.set(tool.name, { tool, spec: toolSpecOf(tool) });
  }
  return {
    specs: (names) =>
      names.map((name) => {
        const found = known.get(name);
        if (found === undefined) throw new StrataError('NOT_FOUND', { what: 'tool', id: name });
        return found.spec;
      }),
    async run(call, context, offered) {
      const startedAt = services.clock.now();
      const tool = offeredTool(call.tool, offered, known);
      const calling = { context, timeLimitMs, hooks: services.hooks };
      const { text, isError } =
        tool === undefined ? unknownTool(call, context, offered) : await answerHooked(tool, call, calling);
      const long = offload(text, services.random.id() as BlobId, sizesFor(services, context));
      const isStored = long !== null && (await keep(services, { blobId: long.blob.id, text, context }));
      const durationMs = services.clock.now() - startedAt;
      services.events.emit({
        kind: 'tool.called',
        conversation: context.conversation,
        tool: tool?.name ?? null,
        isError,
        durationMs,
      });
      const base = { kind: 'tool-result', callId: call.callId, tool: call.tool, isError } as const;
      if (long === null) return { ...base, text, blob: null };
      return isStored ? { ...base, text: long.stored, blob: long.blob } : { ...base, text: long.lost, blob: null };
    },
  };
}

/** Of an agent with very many tools. */
const MAX_NAMES = 40;

/** A model that made up a name, or remembers a tool of another agent, would otherwise try the next name. */
function unknownTool({ tool }: ToolCall, { signal }: ToolContext, offered: readonly ToolSpec[]): ToolOutcome {
  signal.throwIfAborted();
  const names = offered.flatMap((spec) => [spec.name, ...(spec.name === TOOL_HELP ? namedIn(spec) : [])]);
  const known = names.length === 0 ? '' : ` Available: ${names.slice(0, MAX_NAMES).join(', ')}.`;
  const problem = describe(new StrataError('NOT_FOUND', { what: 'tool', id: tool }));
  return { text: `${problem}${known} Do not call it again; answer without it.`, isError: true };
}

const helpInput = z.object({ tool: z.string() });

/** A model may call a tool that `tool_help` names without opening it first: its input is checked either way. */
function offeredTool(name: string, offered: readonly ToolSpec[], known: ReadonlyMap<string, Known>): Tool | undefined {
  const help = offered.find((spec) => spec.name === TOOL_HELP);
  const described = new Set(help === undefined ? [] : namedIn(help));
  const isOffered = described.has(name) || offered.some((spec) => spec.name === name);
  if (!isOffered) return undefined;
  const found = known.get(name)?.tool;
  return found ?? (help?.name === name ? helpFor(help, described, known) : undefined);
}

/** The tool that describes the others. */
function helpFor(
  { name, description }: ToolSpec,
  described: ReadonlySet<string>,
  known: ReadonlyMap<string, Known>,
): Tool<{ readonly tool: string }> {
  return defineTool({
    name,
    description,
    input: helpInput,
    async run({ tool }) {
      const spec = described.has(tool) ? known.get(tool)?.spec : undefined;
      if (spec === undefined) throw new StrataError('NOT_FOUND', { what: 'tool', id: tool });
      return { ...spec };
    },
  });
}

const helpSchema = z.object({ properties: z.object({ tool: z.object({ enum: z.array(z.string()) }) }) });

function namedIn({ inputSchema }: ToolSpec): readonly string[] {
  return helpSchema.safeParse(inputSchema).data?.properties.tool.enum ?? [];
}

/** What every provider accepts. */
const NAME = /^[a-z_][\w-]{0,63}$/i;

/** A tool as models see it. Throws `TOOL_INVALID`, because a provider would refuse every request with such a tool. */
export function toolSpecOf({ name, description, input }: Tool): ToolSpec {
  const refuse = (problem: string): never => {
    throw new StrataError('TOOL_INVALID', { tool: name, problem });
  };
  if (!NAME.test(name)) refuse('expected a name of at most 64 letters, digits, _ and -, without a digit at the start');
  const inputSchema = schemaOf(input, refuse);
  if (inputSchema['type'] !== 'object') refuse('its input must be one object, such as z.object({ … })');
  return { name, description, inputSchema };
}

function schemaOf(input: Tool['input'], refuse: (problem: string) => never): ToolSpec['inputSchema'] {
  try {
    return leanSchema(input);
  } catch (error) {
    return refuse(`its input cannot be described to a model: ${describe(error)}`);
  }
}

interface Calling {
  readonly context: ToolContext;
  readonly timeLimitMs: number;
  readonly hooks: Services['hooks'];
}

/** What hooks return instead of a result is a result; what they pass on is parsed as the model's own input is. */
async function answerHooked(tool: Tool, call: ToolCall, calling: Calling): Promise<ToolOutcome> {
  // Results for a turn that has ended are ignored.
  calling.context.signal.throwIfAborted();
  const { conversation, agentId, audience, author, callKey, signal } = calling.context;
  const context = { conversation, agentId, audience, author, callKey, tool: tool.name };
  return await calling.hooks.tool({ context, change: { input: call.input }, signal }, ({ input }) =>
    answer(tool, { ...call, input }, calling),
  );
}

async function answer(tool: Tool, call: ToolCall, { context, timeLimitMs }: Calling): Promise<ToolOutcome> {
  using limit = limitWork(context.signal, { ms: timeLimitMs });
  using children = limitWork(context.signal);
  const opened = async (task: ChildTask): Promise<ChildAnswer> => {
    // A child has a time limit of its own.
    using _ = limit.pause();
    const { signal } = children;
    return await context.spawn({ ...task, signal: task.signal ? AbortSignal.any([task.signal, signal]) : signal });
  };
  const spawn = (task: ChildTask): Promise<ChildAnswer> => {
    const answer = opened(task);
    // A tool may end without waiting for it.
    answer.catch(() => undefined);
    return answer;
  };
  const { signal } = limit;
  const run = async () =>
    resultText(tool, await tool.run(await parseInput(tool, call.input), { ...context, spawn, signal }));
  try {
    // A tool that ignores its signal must not block the turn.
    return { text: await Promise.race([run(), rejection(signal)]), isError: false };
  } catch (error) {
    // A turn that is being ended does not continue with a made-up result.
    if (context.signal.aborted || isStrataError(error, 'HOOK_FAILED')) throw error;
    if (limit.signal.aborted) return { text: tooSlow(call.tool, timeLimitMs), isError: true };
    return { text: describe(error), isError: true };
  } finally {
    children.abort(new Error('The tool call has ended.'));
  }
}

function tooSlow(tool: string, timeLimitMs: number): string {
  return `The tool ${tool} did not return within ${timeLimitMs / 1000} seconds and was stopped.`;
}

/** A schema may look something up to check a value. */
async function parseInput(tool: Tool, input: JsonValue): Promise<unknown> {
  const parsed = await tool.input.safeParseAsync(input);
  if (parsed.success) return parsed.data;
  const loose = await tool.input.safeParseAsync(looseInput(input, parsed.error.issues));
  if (loose.success) return loose.data;
  throw new StrataError('TOOL_INPUT_INVALID', { tool: tool.name, problem: z.prettifyError(parsed.error) });
}

/** False if the store did not accept it; the excerpt then has no reference. */
async function keep(
  services: ToolRegistryOptions['services'],
  { blobId, text, context }: { readonly blobId: BlobId; readonly text: string; readonly context: ToolContext },
): Promise<boolean> {
  const { store, clock, events } = services;
  if (context.blobs !== undefined) {
    context.blobs.add({ id: blobId, text });
    return true;
  }
  try {
    const conversationId = context.storedIn ?? context.conversationId;
    await store.blobs.put({ id: blobId, conversationId, text, now: clock.now() });
    return true;
  } catch (error) {
    events.emit({ kind: 'error.internal', conversation: context.conversation, message: describe(error) });
    return false;
  }
}
