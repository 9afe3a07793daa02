import { z } from 'zod';
import type { ModelRequest, ToolCall, ToolSpec } from '../../../../src/adapter-kit.ts';
import type { Answer } from '../answer.ts';
import type { View } from '../talk/view.ts';

/** Describes the tools that a request offers only by name. */
const HELP = 'tool_help';

const helpSchema = z.object({ properties: z.object({ tool: z.object({ enum: z.array(z.string()) }) }) });
const askSchema = z.object({ tool: z.string() });
const specSchema = z.object({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.json()) });

export interface OfferedTools {
  readonly tools: readonly ToolSpec[];
  /** Names of tools whose input is unknown so far. */
  readonly undescribed: ReadonlySet<string>;
}

/** The tools of a request, as far as it and the answers of `tool_help` describe them. */
export function offeredTools({ tools }: Pick<ModelRequest, 'tools'>, { calls }: Pick<View, 'calls'>): OfferedTools {
  const help = tools.find(({ name }) => name === HELP);
  const names = helpSchema.safeParse(help?.inputSchema).data?.properties.tool.enum ?? [];
  const opened = new Map(
    calls.flatMap(({ call, result }) => {
      const spec = call.tool === HELP ? specIn(result?.text ?? '') : null;
      return spec === null ? [] : [[spec.name, spec]];
    }),
  );
  const known = new Map(tools.filter(({ name }) => name !== HELP).map((tool) => [tool.name, tool]));
  for (const name of names) {
    known.set(name, opened.get(name) ?? known.get(name) ?? { name, description: '', inputSchema: {} });
  }
  // In a full window the answer of `tool_help` is shortened: asking again would not help.
  const asked = new Set(calls.map(({ call }) => askedFor(call)));
  return {
    tools: [...known.values()],
    undescribed: new Set(names.filter((name) => !opened.has(name) && !asked.has(name))),
  };
}

/** The view without what was only asked of `tool_help`. */
export function withoutHelp(view: View): View {
  return { ...view, calls: view.calls.filter(({ call }) => call.tool !== HELP) };
}

/** Asks how a tool is called before it is called. */
export function helpFirst(answer: Answer, { undescribed }: Pick<OfferedTools, 'undescribed'>): Answer {
  const unknown = answer.calls.find(({ tool }) => undescribed.has(tool));
  return unknown === undefined ? answer : { text: '', calls: [{ tool: HELP, input: { tool: unknown.tool } }] };
}

/** The tool that a call of `tool_help` is about; null for other calls. */
function askedFor({ tool, input }: ToolCall): string | null {
  return tool === HELP ? (askSchema.safeParse(input).data?.tool ?? null) : null;
}

function specIn(text: string): ToolSpec | null {
  try {
    return specSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
