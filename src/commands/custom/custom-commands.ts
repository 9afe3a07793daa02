import { z } from 'zod';
import { StrataError } from '../../domain/errors.ts';
import type { ActionSpec, CommandSpec, OptionSpec } from '../../ports/command.ts';
import type { CommandReply } from '../../ports/reply.ts';
import { withinTime } from '../../util/async/within.ts';
import { faultsIn, inWords } from '../../util/errors/faults.ts';
import { builtInCommands } from '../built-in/built-in-commands.ts';
import type { Call, Command, Handler, Suggester } from '../command.ts';
import { errorReply } from '../reply.ts';
import { choiceOption, integerOption, MAX_INTEGER, pageOption, textOption, usageOf } from '../spec.ts';
import { replyOf, yesOrNo } from './answer.ts';
import type { CommandCall, CommandDefinition, CommandSuggest } from './define.ts';

const MAX_RUN_MS = 60_000;
/** Platforms show completions only while a person types. */
const MAX_SUGGEST_MS = 2_000;
const MAX_OPTIONS = 25;
const MAX_ACTIONS = 25;
const MAX_CHOICES = 25;
const MAX_DESCRIPTION = 100;
const BOOLEAN = [yesOrNo(true), yesOrNo(false)];

/** The built-in commands and the given ones. Throws `COMMAND_INVALID`, and `COMMAND_DUPLICATE` for a name used twice. */
export function allCommands(own: readonly CommandDefinition[]): readonly Command[] {
  const groups = Map.groupBy(own, ({ name }) => name.split(' ')[0] ?? '');
  const commands = [...groups].map(([name, definitions]) => commandOf(name, definitions));
  const taken = new Set(builtInCommands.map(({ spec }) => spec.name));
  const duplicate = commands.find(({ spec }) => taken.has(spec.name));
  if (duplicate !== undefined) throw new StrataError('COMMAND_DUPLICATE', { command: duplicate.spec.name });
  return [...builtInCommands, ...commands];
}

/** Definitions with the same first word are one command with sub-commands. */
function commandOf(name: string, definitions: readonly CommandDefinition[]): Command {
  const parts = definitions.map((definition) => ({ definition, action: actionSpecOf(definition) }));
  const names = parts.map(({ action }) => action.name);
  const isDuplicate = new Set(names).size < names.length || (names.length > 1 && names.includes(''));
  if (isDuplicate) throw new StrataError('COMMAND_DUPLICATE', { command: name });
  if (names.length > MAX_ACTIONS) throw invalid(name, `it has more than ${MAX_ACTIONS} sub-commands`);
  const [first] = parts;
  const only = names.length === 1 && first !== undefined ? first.action : null;
  const spec: CommandSpec = {
    name,
    description: only?.description ?? clip(`${names.join(', ')}`),
    actions: parts.map(({ action }) => action),
    otherwise: only?.name ?? '',
  };
  return {
    spec,
    run: Object.fromEntries(parts.map(({ definition, action }) => [action.name, handlerOf(definition, action)])),
    suggest: Object.fromEntries(
      parts.flatMap(({ definition, action }) =>
        Object.entries(definition.suggest ?? {}).map(([option, suggest]) => [
          suggesterName(action, option),
          suggesterOf(option, suggest),
        ]),
      ),
    ),
  };
}

/** Two sub-commands may have options of the same name. */
function suggesterName({ name }: ActionSpec, option: string): string {
  return name === '' ? option : `${name} ${option}`;
}

function clip(text: string): string {
  return text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION - 1)}…`;
}

function invalid(command: string, problem: string): StrataError {
  return new StrataError('COMMAND_INVALID', { command, problem });
}

function actionSpecOf(definition: CommandDefinition): ActionSpec {
  const { name, description, access = 'member', confirm = false, ephemeral = true, paged = false } = definition;
  const options = optionsOf(definition);
  return {
    name: name.split(' ')[1] ?? '',
    description,
    options: paged ? [...options, pageOption] : options,
    access,
    irreversible: confirm,
    ephemeral,
  };
}

function optionsOf(definition: CommandDefinition): readonly OptionSpec[] {
  const { name, form = [], suggest = {}, paged = false } = definition;
  const { properties, required } = jsonOf(definition);
  const options = Object.entries(properties).map(([option, schema]) => {
    const details = { required: required.includes(option), suggests: option in suggest, inForm: form.includes(option) };
    return { ...readOption(name, option, schema), ...details };
  });
  const names = options.map((option) => option.name);
  const unknownName = [...form, ...Object.keys(suggest)].find((option) => !names.includes(option));
  if (unknownName !== undefined) throw invalid(name, `there is no option "${unknownName}"`);
  const optional = options.find((option) => option.inForm && !option.required);
  if (optional !== undefined) throw invalid(name, `the form asks for "${optional.name}", which is not required`);
  if (paged && names.includes('page')) throw invalid(name, 'a paged command has the option "page" already');
  if (options.length + (paged ? 1 : 0) > MAX_OPTIONS) throw invalid(name, `it has more than ${MAX_OPTIONS} options`);
  const sorted = [...options.filter((option) => option.required), ...options.filter((option) => !option.required)];
  const last = sorted.findLast(({ kind }) => kind === 'text');
  return sorted.map((option) => (option === last ? { ...option, rest: true } : option));
}

const propertySchema = z.looseObject({
  type: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
});
const jsonSchema = z.looseObject({
  properties: z.record(z.string(), propertySchema).default({}),
  required: z.array(z.string()).default([]),
});

function jsonOf({ name, options }: CommandDefinition): z.infer<typeof jsonSchema> {
  try {
    return jsonSchema.parse(z.toJSONSchema(options ?? z.object({}), { io: 'input' }));
  } catch (cause) {
    throw new StrataError('COMMAND_INVALID', { command: name, problem: KINDS }, { cause });
  }
}

const KINDS = 'its options must be strings, whole numbers, booleans or enums';

function readOption(command: string, name: string, schema: z.infer<typeof propertySchema>): OptionSpec {
  if (!/^[a-z]{1,32}$/.test(name)) throw invalid(command, `the option "${name}" must be 1 to 32 lower-case letters`);
  const description = schema.description ?? name;
  if (description.length > MAX_DESCRIPTION) {
    throw invalid(command, `the description of "${name}" has more than ${MAX_DESCRIPTION} characters`);
  }
  if (schema.type === 'boolean') return choiceOption(name, description, BOOLEAN);
  if (schema.type === 'integer') {
    const { minimum = -MAX_INTEGER, maximum = MAX_INTEGER } = schema;
    return integerOption(name, description, {
      min: Math.max(minimum, -MAX_INTEGER),
      max: Math.min(maximum, MAX_INTEGER),
    });
  }
  if (schema.type !== 'string') throw invalid(command, KINDS);
  return schema.enum === undefined
    ? textOption(name, description, { maxLength: schema.maxLength ?? Number.POSITIVE_INFINITY })
    : choiceOption(name, description, choicesOf(command, name, schema.enum));
}

function choicesOf(command: string, name: string, values: readonly unknown[]): readonly string[] {
  const choices = values.map(String);
  const fits = choices.every((choice) => choice.length > 0 && choice.length <= 100);
  if (fits && choices.length <= MAX_CHOICES) return choices;
  throw invalid(command, `"${name}" must have at most ${MAX_CHOICES} choices of 1 to 100 characters`);
}

function handlerOf(definition: CommandDefinition, action: ActionSpec): Handler {
  const { paged = false } = definition;
  return async (call) => {
    const { path, options } = call.invocation;
    const input = inputOf(definition, action, call);
    const answered = await runWithin(call, MAX_RUN_MS, async (own) => ({ answer: await definition.run(input, own) }));
    if (answered === null) return lateReply(definition, call);
    const context = { command: { path, options }, ephemeral: action.ephemeral, paged, specs: call.specs };
    return replyOf(answered.answer, context);
  };
}

function lateReply({ name }: CommandDefinition, { services, invocation }: Call): CommandReply {
  services.log.error('A command took too long', { command: name, conversation: invocation.conversation });
  return errorReply(`The command did not finish within ${MAX_RUN_MS / 1_000} seconds.`);
}

/** The values as their schema's types. Throws `COMMAND_USAGE` for what the schema refuses. */
function inputOf(definition: CommandDefinition, action: ActionSpec, call: Call): Record<string, unknown> {
  const values = action.options.flatMap(({ name, kind, choices }): [string, string | number | boolean][] => {
    const value = call.invocation.options[name];
    if (value === undefined || (name === 'page' && definition.paged === true)) return [];
    if (kind === 'integer') return [[name, Number(value)]];
    return [[name, choices === BOOLEAN ? value === yesOrNo(true) : value]];
  });
  const parsed = (definition.options ?? z.object({})).safeParse(Object.fromEntries(values), { error: inWords });
  if (parsed.success) return parsed.data;
  const [problem = ''] = faultsIn(parsed.error);
  const [name = ''] = definition.name.split(' ');
  throw new StrataError('COMMAND_USAGE', { command: definition.name, problem, usage: usageOf({ name }, action) });
}

function suggesterOf(option: string, suggest: CommandSuggest): Suggester {
  return async (call) => {
    const found = await runWithin(call, MAX_SUGGEST_MS, (own) => suggest(call.invocation.options[option] ?? '', own));
    return suggestionsSchema.parse(found ?? []);
  };
}

const suggestionsSchema = z.array(
  z.union([
    z.string().transform((value) => ({ label: value, value })),
    z.object({ label: z.string(), value: z.string() }),
  ]),
);

/** What the plugin's function returns; null if it takes too long, and then its signal aborts. */
async function runWithin<Result>(
  { services, invocation }: Call,
  ms: number,
  work: (call: CommandCall) => Result | Promise<Result>,
): Promise<Result | null> {
  const over = new AbortController();
  const { conversation, audience, author, rights } = invocation;
  const call = { conversation, audience, author, rights, log: services.log, signal: over.signal };
  try {
    return await withinTime(
      Promise.resolve().then(() => work(call)),
      { clock: services.clock, ms },
    );
  } finally {
    over.abort();
  }
}
