/**
 * The commands as data: Discord registers them from it, Slack and the terminal parse lines with it, and `/help` lists
 * it.
 */
export interface CommandSpec {
  /** Lower-case letters; typed after the slash. */
  readonly name: string;
  /** At most 100 characters. */
  readonly description: string;
  /** An empty name means the command itself, and then it is the only action. */
  readonly actions: readonly ActionSpec[];
  /** The action of a line without a sub-command. */
  readonly otherwise: string;
}

/** One action of a command, such as `list` of `/memory`. */
export interface ActionSpec {
  readonly name: string;
  /** At most 100 characters. */
  readonly description: string;
  /** Required ones first; the last one may take the rest of the line. */
  readonly options: readonly OptionSpec[];
  readonly access: Access;
  /** Platforms with buttons ask for confirmation first. */
  readonly irreversible: boolean;
  /** The answer is for the asking person only, where the platform can. */
  readonly ephemeral: boolean;
}

/**
 * Who can use it. `member`: everyone who can read the place. `subject`: the person it is about, and moderators.
 * `moderator`: people who manage the place; in a DM the person who talks to the bot. `operator`: operators of the bot.
 */
export type Access = 'member' | 'subject' | 'moderator' | 'operator';

/** One option of an action. */
export interface OptionSpec {
  readonly name: string;
  /** At most 100 characters. */
  readonly description: string;
  readonly kind: 'text' | 'integer' | 'choice';
  readonly required: boolean;
  /** Takes the rest of the line unchanged. Only for the last text option. */
  readonly rest: boolean;
  /** Most characters of a `text`; infinite if only the platform limits them. */
  readonly maxLength: number;
  /** The values of a `choice`. */
  readonly choices: readonly string[];
  /** The limits of an `integer`, both included. */
  readonly range: { readonly min: number; readonly max: number };
  /** Whether `suggest` has completions for it. */
  readonly suggests: boolean;
  /** A form asks for it if it is required and missing. On platforms without forms it is an ordinary option. */
  readonly inForm: boolean;
}
