/**
 * What the commands are, as data: Discord registers them from it, Slack and the terminal parse lines by it, `/help` is
 * made from it.
 */
export interface CommandSpec {
  /** Lower-case letters; what is typed after the slash. */
  readonly name: string;
  /** At most 100 characters. */
  readonly description: string;
  /** One with an empty name is the command itself; otherwise there are only named ones. */
  readonly actions: readonly ActionSpec[];
  /** The action that a line without a sub-command means. */
  readonly otherwise: string;
}

export interface ActionSpec {
  readonly name: string;
  /** At most 100 characters. */
  readonly description: string;
  /** Required ones first; the last may take the rest of the line. */
  readonly options: readonly OptionSpec[];
  readonly access: Access;
  /** A platform that can, asks before it runs. */
  readonly irreversible: boolean;
}

/**
 * Who may. `member`: everyone who reads the place. `subject`: whom it is about, and moderators. `moderator`: who manages
 * the place; in a DM the person themself. `operator`: who runs the bot.
 */
export type Access = 'member' | 'subject' | 'moderator' | 'operator';

export interface OptionSpec {
  readonly name: string;
  /** At most 100 characters. */
  readonly description: string;
  readonly kind: 'text' | 'integer' | 'choice';
  readonly required: boolean;
  /** Takes the rest of the line as it is. Only the last text option. */
  readonly rest: boolean;
  /** Of a `choice`. */
  readonly choices: readonly string[];
  /** `suggest` has completions for it. */
  readonly suggests: boolean;
}

type OptionDetails = Partial<Omit<OptionSpec, 'name' | 'description' | 'kind'>>;

export function textOption(name: string, description: string, details: OptionDetails = {}): OptionSpec {
  return { ...OPTION, ...details, name, description, kind: 'text' };
}

export function choiceOption(name: string, description: string, choices: readonly string[]): OptionSpec {
  return { ...OPTION, name, description, kind: 'choice', choices };
}

const OPTION = { required: false, rest: false, choices: [], suggests: false } as const;

/** The page of a list. */
export const pageOption: OptionSpec = {
  ...OPTION,
  name: 'page',
  description: 'Which page to show',
  kind: 'integer',
};

/** How an action is typed, without what a command begins with: `memory show <id>`. */
export function usageOf(command: CommandSpec, action: ActionSpec): string {
  const options = action.options.map((option) => (option.required ? `<${option.name}>` : `[${option.name}]`));
  return [command.name, action.name, ...options].filter((word) => word !== '').join(' ');
}
