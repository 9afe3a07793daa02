import { StrataError } from '../../domain/errors.ts';
import type { ActionSpec, CommandSpec, OptionSpec } from '../../ports/command.ts';
import type { CommandReply, ReplyCommand } from '../../ports/reply.ts';
import { didYouMean } from '../../util/text/did-you-mean.ts';
import { CLOSING_MARKS } from '../../util/text/scan.ts';
import { findCommand, resolveAction, unknownAction } from '../actions.ts';
import { failureReply } from '../reply.ts';
import { MAX_INTEGER, usageOf } from '../spec.ts';

/** Opening quotes and what closes each; phones type those of their language. */
const QUOTES = new Map([...CLOSING_MARKS, ["'", "'"], ['＂', '＂']]);
/** French puts a space inside these. */
const SPACED = '«‹';

/** Whether a chat line is a command: a slash followed by a letter, unlike a path or a smiley. */
export function isCommandLine(line: string): boolean {
  return /^\s*\/[a-z]+(?:\s|$)/i.test(line);
}

/**
 * Parses `/command sub value name=value rest of the line`. Throws `COMMAND_UNKNOWN` or `COMMAND_USAGE`. Quotes keep a
 * value with spaces together; the last text option takes the rest of the line unchanged.
 */
export function parseCommandLine(line: string, specs: readonly CommandSpec[]): ReplyCommand {
  const [, name = '', rest = ''] = /^\s*\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const command = findCommand(name.toLowerCase(), specs);
  const [, word = '', afterWord = ''] = /^(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
  const named = command.actions.find((action) => action.name === word.toLowerCase());
  const action = named ?? otherwiseOf(command, word);
  const options = readOptions(command, action, named === undefined ? rest : afterWord);
  return { path: pathOf(command, action), options };
}

/** A line that `readCommandLine` has parsed: the command, or the reply that explains what is wrong. */
export type ReadCommand =
  | { readonly kind: 'command'; readonly command: ReplyCommand }
  /** The answer to an unknown command or wrong usage. */
  | { readonly kind: 'refused'; readonly reply: CommandReply };

/**
 * Parses one typed line as a command of the bot. Never throws. `prefix` is how commands begin there. Options
 * that are meant for a form (`inForm`) may be missing: see `optionsToAsk`.
 */
export function readCommandLine(
  line: string,
  { specs, prefix = '/' }: { readonly specs: readonly CommandSpec[]; readonly prefix?: string },
): ReadCommand {
  try {
    return { kind: 'command', command: parseCommandLine(line, specs) };
  } catch (error) {
    return { kind: 'refused', reply: failureReply(error, prefix) };
  }
}

/**
 * The line to type for a command: `parseCommandLine` parses it back to the same command. `prefix` is what commands
 * begin with on the platform.
 */
export function formatCommand({ path, options }: ReplyCommand, specs: readonly CommandSpec[], prefix = '/'): string {
  const { action } = resolveAction(path, specs);
  const given = action.options.filter((option) => options[option.name] !== undefined);
  // A rest option takes everything after it, so it comes last.
  const ordered = [...given.filter((option) => !option.rest), ...given.filter((option) => option.rest)];
  const words = ordered.map((option, index) => {
    const value = options[option.name] ?? '';
    const earlier = ordered.slice(0, index);
    const open = action.options.filter((candidate) => !earlier.includes(candidate));
    const isNext = optionFor(value, open) === option;
    if (isNext && (option.rest ? isPlainRest(value) : isPlainWord(value))) return value;
    return `${option.name}=${isBare(value) ? value : quote(value)}`;
  });
  return [`${prefix}${path.join(' ')}`, ...words].join(' ');
}

/** Validates values from a platform or a person. Throws `COMMAND_USAGE`. */
export function checkOptions(
  command: CommandSpec,
  action: ActionSpec,
  options: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const [missing] = missingIn(action, options);
  if (missing !== undefined) throw usageError(command, action, `${missing.name} is missing`);
  return checkGiven(command, action, options);
}

function missingIn(action: ActionSpec, options: Readonly<Record<string, string>>): readonly OptionSpec[] {
  return action.options.filter(({ name, required }) => required && isBlank(options[name]));
}

function isBlank(value: string | undefined): boolean {
  return value === undefined || value.trim() === '';
}

function checkGiven(
  command: CommandSpec,
  action: ActionSpec,
  options: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const option of action.options) {
    const value = options[option.name] ?? '';
    if (!isBlank(value)) checkValue(command, action, { option, value });
  }
  const known = action.options.map((option) => option.name);
  const unknownName = Object.keys(options).find((name) => !known.includes(name));
  if (unknownName !== undefined) throw usageError(command, action, `there is no option "${unknownName}"`);
  return Object.fromEntries(Object.entries(options).filter(([, value]) => !isBlank(value)));
}

function checkValue(
  command: CommandSpec,
  action: ActionSpec,
  { option, value }: { readonly option: OptionSpec; readonly value: string },
): void {
  if (option.kind === 'integer' && !canHold(option, value)) {
    const problem = `${option.name} must be a whole number${limitsOf(option)}, not "${value.slice(0, 40)}"`;
    throw usageError(command, action, problem);
  }
  if (option.kind === 'choice' && !canHold(option, value)) {
    const meant = didYouMean(value.slice(0, 40), option.choices);
    const hint = meant === null ? '' : ` Did you mean ${meant}?`;
    const problem = `${option.name} must be one of ${option.choices.join(', ')}, not "${value.slice(0, 40)}".${hint}`;
    throw usageError(command, action, problem.replace(/\.$/, ''));
  }
}

function limitsOf({ range: { min, max } }: OptionSpec): string {
  if (max < MAX_INTEGER) return min > -MAX_INTEGER ? ` from ${min} to ${max}` : ` of at most ${max}`;
  return min > -MAX_INTEGER ? ` of at least ${min}` : '';
}

/** No action's name looks like this. */
const NUMBER = /^#?\d+$/u;

/**
 * The action of a line without a known sub-command: the command itself, or its default action if nothing or a number
 * follows.
 */
function otherwiseOf(command: CommandSpec, word: string): ActionSpec {
  const usual = command.actions.find((action) => action.name === command.otherwise);
  if (usual === undefined || (usual.name !== '' && word !== '' && !NUMBER.test(word)))
    throw unknownAction(command, word);
  return usual;
}

function usageError(command: CommandSpec, action: ActionSpec, problem: string): StrataError {
  const name = [command.name, action.name].filter((word) => word !== '').join(' ');
  return new StrataError('COMMAND_USAGE', { command: name, problem, usage: usageOf(command, action) });
}

function pathOf(command: CommandSpec, action: ActionSpec): readonly string[] {
  return action.name === '' ? [command.name] : [command.name, action.name];
}

function readOptions(command: CommandSpec, action: ActionSpec, text: string): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  let left = text.trim();
  while (left !== '') {
    const open = action.options.filter((option) => values[option.name] === undefined);
    const named = /^([a-z]+)=/.exec(left);
    const option = open.find((candidate) => candidate.name === named?.[1]);
    if (option !== undefined && named !== null) {
      const taken = takeWord(command, action, left.slice(named[0].length));
      values[option.name] = taken.word;
      left = taken.left;
      continue;
    }
    const next = optionFor(/^\S+/.exec(left)?.[0] ?? '', open);
    if (next === undefined) throw usageError(command, action, `"${left.slice(0, 40)}" is unexpected`);
    const taken = next.rest ? { word: unquoteWhole(left), left: '' } : takeWord(command, action, left);
    values[next.name] = taken.word;
    left = taken.left;
  }
  const missing = missingIn(action, values).find(({ inForm }) => !inForm);
  if (missing !== undefined) throw usageError(command, action, `${missing.name} is missing`);
  return checkGiven(command, action, values);
}

/** The option that an unnamed word belongs to: the first one that accepts it. */
function optionFor(word: string, open: readonly OptionSpec[]): OptionSpec | undefined {
  return open.find((option) => canHold(option, word)) ?? open[0];
}

function canHold({ kind, choices, range }: OptionSpec, value: string): boolean {
  if (kind === 'integer') {
    return WHOLE_NUMBER.test(value) && Number(value) >= range.min && Number(value) <= range.max;
  }
  return kind === 'text' || choices.includes(value);
}

const WHOLE_NUMBER = /^(?:0|-?[1-9]\d{0,8})$/;

function takeWord(command: CommandSpec, action: ActionSpec, text: string): { word: string; left: string } {
  const closing = QUOTES.get(text.charAt(0));
  if (closing === undefined) {
    const [, word = '', left = ''] = /^(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
    return { word, left };
  }
  const end = closingAt(text, closing);
  if (end === -1) throw usageError(command, action, `the quote ${text.charAt(0)} is not closed`);
  return { word: quotedIn(text, end), left: text.slice(end + 1).trimStart() };
}

/** The text between the quotes. */
function quotedIn(text: string, end: number): string {
  const inner = text.slice(1, end);
  return withoutEscapes(SPACED.includes(text.charAt(0)) ? inner.trim() : inner);
}

function closingAt(text: string, closing: string): number {
  for (let index = 1; index < text.length; index += 1) {
    if (text.charAt(index) === '\\') index += 1;
    else if (closing.includes(text.charAt(index))) return index;
  }
  return -1;
}

/** The rest is taken unchanged, unless all of it is one quotation. */
function unquoteWhole(text: string): string {
  const closing = QUOTES.get(text.charAt(0));
  if (closing === undefined || closingAt(text, closing) !== text.length - 1) return text;
  return quotedIn(text, text.length - 1);
}

function withoutEscapes(text: string): string {
  return text.replace(/\\([\s\S])/g, '$1');
}

function quote(value: string): string {
  return `"${value.replace(/[\\"]/g, '\\$&')}"`;
}

function isBare(value: string): boolean {
  return /^\S+$/.test(value) && !QUOTES.has(value.charAt(0));
}

function isPlainWord(value: string): boolean {
  return isBare(value) && !/^[a-z]+=/.test(value);
}

function isPlainRest(value: string): boolean {
  return value !== '' && value === value.trim() && !QUOTES.has(value.charAt(0)) && !/^[a-z]+=/.test(value);
}
`}`;
