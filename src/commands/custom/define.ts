import { z } from 'zod';
import { StrataError } from '../../domain/errors.ts';
import type { Audience, Author, ConversationKey } from '../../domain/message.ts';
import { RIGHTS, type Rights } from '../../ports/channel.ts';
import type { Access } from '../../ports/command.ts';
import type { Log } from '../../ports/log.ts';
import { faultsOf, nameOf } from '../../util/errors/faults.ts';
import type { Suggestion } from '../command.ts';
import type { CommandAnswer } from './answer.ts';

/** The options of a command: text, whole numbers, booleans and enums, each optional or required. */
export type CommandOptions = z.ZodObject;

/** A command for people, the same on every channel. `options` are parsed by their schema before `run` gets them. */
export interface CommandDefinition<Options extends CommandOptions = CommandOptions> {
  /** One or two words in lower-case letters: `weather`, or `poll start` next to `poll close`. */
  readonly name: string;
  /** At most 100 characters. */
  readonly description: string;
  /** By their names in lower-case letters; `describe` says what each is for. Default: none. */
  readonly options?: Options;
  /** At most five options that a form asks for if they are missing; the terminal asks in lines. Each must be required. */
  readonly form?: readonly (keyof z.infer<Options> & string)[];
  /** Who can use it: everyone, people who manage the place, or operators of the bot. Default `member`. */
  readonly access?: Exclude<Access, 'subject'>;
  /** Asks for confirmation first. Default false. */
  readonly confirm?: boolean;
  /** Only the asking person sees the answer, where the platform can do that. Default true. */
  readonly ephemeral?: boolean;
  /** Shows `rows` eight at a time, with an option `page` and buttons. Default false. */
  readonly paged?: boolean;
  /** Completions of text options while they are typed, by option. */
  readonly suggest?: Readonly<Record<string, CommandSuggest>>;
  /** The answer. If it throws or takes longer than a minute, the person reads that it failed, and the log says why. */
  run(options: z.infer<Options>, call: CommandCall): CommandAnswer | Promise<CommandAnswer>;
}

/** Up to 25 of the values that contain the typed text are shown. */
export type CommandSuggest = (
  typed: string,
  call: CommandCall,
) => readonly (string | Suggestion)[] | Promise<readonly (string | Suggestion)[]>;

/** One call of a custom command. */
export interface CommandCall {
  readonly conversation: ConversationKey;
  readonly audience: Audience;
  readonly author: Author;
  /** What the platform lets the author do: `operator` runs the bot, `moderator` manages the place. */
  readonly rights: Rights;
  readonly log: Log;
  /** Aborted when the answer is no longer awaited. */
  readonly signal: AbortSignal;
}

/**
 * Declares a command. Pass it to `createBot`, or export it from a plugin. Throws `COMMAND_INVALID`.
 *
 * @example
 * const roll = defineCommand({
 *   name: 'roll',
 *   description: 'Roll dice',
 *   options: z.object({ sides: z.int().min(2).default(6).describe('Number of sides') }),
 *   run: ({ sides }) => `You rolled ${1 + Math.floor(Math.random() * sides)}.`,
 * });
 */
export function defineCommand<Options extends CommandOptions = z.ZodObject<Record<never, never>>>(
  definition: CommandDefinition<Options>,
): CommandDefinition {
  const faults = faultsOf(definitionSchema, definition);
  if (faults.length === 0) return definition;
  throw new StrataError('COMMAND_INVALID', { command: nameOf(definition), problem: faults.join('; ') });
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const isObjectSchema = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'shape' in value && 'safeParse' in value;

/** A form of Discord has no room for more. */
const MAX_FIELDS = 5;

const definitionSchema = z.strictObject({
  name: z.string().regex(/^[a-z]{1,32}(?: [a-z]{1,32})?$/, 'expected one or two words of 1 to 32 lower-case letters'),
  description: z.string().min(1, 'expected a text').max(100, 'expected at most 100 characters'),
  options: z.custom<CommandOptions>(isObjectSchema, 'expected z.object({ … })').optional(),
  form: z.array(z.string()).max(MAX_FIELDS, `expected at most ${MAX_FIELDS} options`).optional(),
  access: z.enum(RIGHTS).optional(),
  confirm: z.boolean().optional(),
  ephemeral: z.boolean().optional(),
  paged: z.boolean().optional(),
  suggest: z.record(z.string(), z.custom<CommandSuggest>(isFunction, 'expected a function')).optional(),
  run: z.custom<CommandDefinition['run']>(isFunction, 'expected a function'),
});
