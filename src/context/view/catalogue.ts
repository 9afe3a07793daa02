import { TOOL_HELP } from '../../domain/lookups.ts';
import type { JsonValue } from '../../domain/message.ts';
import type { ModelMessage, ToolSpec } from '../../ports/model.ts';
import { isJsonList, isJsonObject } from '../../util/json.ts';
import { estimateTools } from '../measure/tokens.ts';

/**
 * How much of each tool a request describes. With `names`, tools can be called without their schemas; with `help`, only
 * those that were opened before.
 */
export type CatalogueForm = 'whole' | 'short' | 'names' | 'help';

export interface Catalogue {
  readonly form: CatalogueForm;
  readonly tools: readonly ToolSpec[];
  readonly tokens: number;
}

export interface CatalogueRoom {
  /** A catalogue within so many tokens is as complete as it can be. */
  readonly wantedTokens: number;
  /** Above so many tokens, not even the names are offered as tools. */
  readonly maxTokens: number;
}

/** The most complete form that fits. */
export function fitCatalogue(tools: readonly ToolSpec[], { wantedTokens, maxTokens }: CatalogueRoom): Catalogue {
  const whole = catalogueOf('whole', tools);
  if (whole.tokens <= wantedTokens || tools.length === 0) return whole;
  const short = catalogueOf('short', tools.map(shortened));
  const names = catalogueOf('names', [...tools.map(bare), helpFor(tools)]);
  const described = [short, names].find(({ tokens }) => tokens <= wantedTokens);
  if (described !== undefined) return described;
  const smallest = short.tokens < names.tokens ? short : names;
  return smallest.tokens <= maxTokens ? smallest : catalogueOf('help', [helpFor(tools)]);
}

/** The tools that the running turn has opened: a request that only offers help offers these, too. */
export function openedTools(tools: readonly ToolSpec[], steps: readonly ModelMessage[]): readonly ToolSpec[] {
  const calls = steps.flatMap((step) => (step.role === 'assistant' ? step.calls : []));
  const asked = new Set(
    calls.flatMap(({ tool, input }) => (tool === TOOL_HELP && isJsonObject(input) ? [input['tool']] : [])),
  );
  return tools.filter(({ name }) => asked.has(name));
}

function catalogueOf(form: CatalogueForm, tools: readonly ToolSpec[]): Catalogue {
  return { form, tools, tokens: estimateTools(tools) };
}

function helpFor(tools: readonly ToolSpec[]): ToolSpec {
  return {
    name: TOOL_HELP,
    description: 'Describes a tool and its input. Call it before the tool.',
    inputSchema: {
      type: 'object',
      properties: { tool: { type: 'string', enum: tools.map(({ name }) => name) } },
      required: ['tool'],
    },
  };
}

function bare({ name }: ToolSpec): ToolSpec {
  return { name, description: `See ${TOOL_HELP}.`, inputSchema: { type: 'object' } };
}

function shortened({ name, description, inputSchema }: ToolSpec): ToolSpec {
  const schema = withoutWords(inputSchema);
  return { name, description: firstSentence(description), inputSchema: isJsonObject(schema) ? schema : inputSchema };
}

function firstSentence(text: string): string {
  const end = text.search(/[.!?。]\s/u);
  return end < 0 ? text : text.slice(0, end + 1);
}

/** A schema's structure: what explains or illustrates it is left out. */
const WORDS: ReadonlySet<string> = new Set(['description', 'title', 'examples', '$comment']);

function withoutWords(value: JsonValue): JsonValue {
  if (isJsonList(value)) return value.map(withoutWords);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !WORDS.has(key));
  return Object.fromEntries(
    kept.map(([key, field]) => [key, key === 'properties' ? each(field) : withoutWords(field)]),
  );
}

/** Property names belong to the tool, even if they equal a keyword of the schema. */
function each(properties: JsonValue): JsonValue {
  if (!isJsonObject(properties)) return properties;
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, withoutWords(schema)]));
}
