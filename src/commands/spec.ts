import type { ActionSpec, CommandSpec, OptionSpec } from '../ports/command.ts';

type OptionDetails = Partial<Omit<OptionSpec, 'name' | 'description' | 'kind'>>;

/** The largest number that an option takes. Every platform accepts it. */
export const MAX_INTEGER = 999_999_999;

export function textOption(name: string, description: string, details: OptionDetails = {}): OptionSpec {
  return { ...OPTION, ...details, name, description, kind: 'text' };
}

export function choiceOption(name: string, description: string, choices: readonly string[]): OptionSpec {
  return { ...OPTION, name, description, kind: 'choice', choices };
}

export function integerOption(name: string, description: string, range: OptionSpec['range']): OptionSpec {
  return { ...OPTION, name, description, kind: 'integer', range };
}

const OPTION = {
  required: false,
  rest: false,
  maxLength: Number.POSITIVE_INFINITY,
  choices: [],
  range: { min: -MAX_INTEGER, max: MAX_INTEGER },
  suggests: false,
  inForm: false,
} as const;

/** The page of a list. */
export const pageOption: OptionSpec = integerOption('page', 'Which page to show', { min: 1, max: MAX_INTEGER });

type ActionDetails = Partial<Omit<ActionSpec, 'name' | 'description'>>;

/** By default everybody can use it, nothing is lost, and only the person who asked sees the answer. */
export function action(name: string, description: string, details: ActionDetails = {}): ActionSpec {
  return { options: [], access: 'member', irreversible: false, ephemeral: true, ...details, name, description };
}

/** A command without sub-commands. */
export function singleAction(name: string, description: string, details: ActionDetails = {}): CommandSpec {
  return { name, description, actions: [action('', description, details)], otherwise: '' };
}

/** The usage of an action, without the command prefix: `memory show <id>`. */
export function usageOf(command: Pick<CommandSpec, 'name'>, action: ActionSpec): string {
  const options = action.options.map(({ name, required, choices: [only, ...more] }) => {
    if (!required) return `[${name}]`;
    // A word to type as it is.
    return only !== undefined && more.length === 0 ? only : `<${name}>`;
  });
  return [command.name, action.name, ...options].filter((word) => word !== '').join(' ');
}
