import { createHash } from 'node:crypto';
import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  type RESTPutAPIApplicationCommandsJSONBody,
} from 'discord.js';
import { type ActionSpec, type CommandSpec, MAX_INTEGER, type OptionSpec } from '../../../../src/adapter-kit.ts';

/** Descriptions by language, then by path: `memory`, `memory list`, `memory list kind`. */
export type Localizations = Readonly<Partial<Record<string, Readonly<Record<string, string>>>>>;

export const REMEMBER_MENU = 'Remember this';
export const FORGET_MENU = 'Forget this';
export const WHY_MENU = 'Why this reply?';

/** The commands in Discord's format. */
export function commandsJson(
  specs: readonly CommandSpec[],
  localizations: Localizations,
): RESTPutAPIApplicationCommandsJSONBody {
  const localize = (name: string) => localized(localizations, name);
  const slash = specs.map((spec) => ({
    type: ApplicationCommandType.ChatInput as const,
    name: spec.name,
    description: spec.description,
    ...localize(spec.name),
    ...SCOPE,
    options: optionsOf(spec, localize),
  }));
  const menus = [REMEMBER_MENU, FORGET_MENU, WHY_MENU].map((name) => ({
    type: ApplicationCommandType.Message as const,
    name,
    ...SCOPE,
  }));
  return [...slash, ...menus];
}

/** In servers and in direct messages with the bot; installed to servers. */
const SCOPE = {
  contexts: [InteractionContextType.Guild, InteractionContextType.BotDM],
  integration_types: [ApplicationIntegrationType.GuildInstall],
};

type Localize = (name: string) => { readonly description_localizations?: Record<string, string> };

function localized(localizations: Localizations, name: string): ReturnType<Localize> {
  const found = Object.entries(localizations).flatMap(([language, texts]) => {
    const text = texts?.[name];
    return text === undefined ? [] : [[language, text] as const];
  });
  return found.length === 0 ? {} : { description_localizations: Object.fromEntries(found) };
}

function optionsOf(spec: CommandSpec, localize: Localize) {
  const [only, ...more] = spec.actions;
  if (only !== undefined && only.name === '' && more.length === 0) {
    return optionsJson(only, { localize, path: spec.name });
  }
  return spec.actions.map((action) => {
    const path = `${spec.name} ${action.name}`;
    return {
      type: ApplicationCommandOptionType.Subcommand as const,
      name: action.name,
      description: action.description,
      ...localize(path),
      options: optionsJson(action, { localize, path }),
    };
  });
}

interface Within {
  readonly localize: Localize;
  readonly path: string;
}

/** Discord accepts no larger limit. */
const MAX_LENGTH = 6000;

/** Discord wants required options first. An option that a form asks for is not required here. */
function optionsJson({ options }: ActionSpec, within: Within) {
  const all = options.map((option) => optionJson(option, within));
  return [...all.filter(({ required }) => required), ...all.filter(({ required }) => !required)];
}

function optionJson(option: OptionSpec, { localize, path }: Within) {
  const { name, description, kind, choices, range, suggests, maxLength } = option;
  const required = option.required && !option.inForm;
  const base = { name, description, ...localize(`${path} ${name}`), required };
  if (kind === 'integer') return { ...base, type: ApplicationCommandOptionType.Integer as const, ...limitsOf(range) };
  const type = ApplicationCommandOptionType.String as const;
  if (kind === 'choice') return { ...base, type, choices: choices.map((choice) => ({ name: choice, value: choice })) };
  const text = { ...base, type, ...(maxLength <= MAX_LENGTH ? { max_length: maxLength } : {}) };
  return suggests ? { ...text, autocomplete: true as const } : text;
}

function limitsOf({ min, max }: OptionSpec['range']) {
  return { ...(min > -MAX_INTEGER ? { min_value: min } : {}), ...(max < MAX_INTEGER ? { max_value: max } : {}) };
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
