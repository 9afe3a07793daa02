import { StrataError } from '../domain/errors.ts';
import type { ActionSpec, CommandSpec, OptionSpec } from '../ports/command.ts';
import type { ReplyCommand } from '../ports/reply.ts';
import { didYouMean } from '../util/text/did-you-mean.ts';

/** Of what people type, in errors. */
const MAX_SHOWN = 40;

/** Throws `COMMAND_UNKNOWN`. */
export function findCommand(name: string, specs: readonly CommandSpec[]): CommandSpec {
  const command = specs.find((spec) => spec.name === name);
  if (command !== undefined) return command;
  const known = specs.map((spec) => spec.name);
  throw new StrataError('COMMAND_UNKNOWN', {
    command: name.slice(0, MAX_SHOWN),
    nearest: didYouMean(name.slice(0, MAX_SHOWN), known),
  });
}

/** Throws `COMMAND_UNKNOWN` or `COMMAND_USAGE`. */
export function resolveAction(
  path: readonly string[],
  specs: readonly CommandSpec[],
): { readonly command: CommandSpec; readonly action: ActionSpec } {
  const [name = '', sub, ...more] = path;
  const command = findCommand(name, specs);
  const wanted = sub ?? command.otherwise;
  const action = command.actions.find((candidate) => candidate.name === wanted);
  if (action === undefined || more.length > 0) throw unknownAction(command, path.slice(1).join(' '));
  return { command, action };
}

/** The error for a sub-command that does not exist, or for a missing one. */
export function unknownAction(command: CommandSpec, word: string): StrataError {
  const names = command.actions.flatMap((action) => (action.name === '' ? [] : [action.name]));
  const meant = didYouMean(word.slice(0, MAX_SHOWN), names);
  const hint = meant === null ? '' : `, did you mean "${meant}"`;
  const problem = word === '' ? 'the action is missing' : `there is no "${word.slice(0, MAX_SHOWN)}"${hint}`;
  return new StrataError('COMMAND_USAGE', {
    command: command.name,
    problem,
    usage: `${command.name} ${names.join('|')}`.trim(),
  });
}

/** The action of a command; null if it is not one of ours. */
export function actionOf(
  { path: [name, sub] }: Pick<ReplyCommand, 'path'>,
  specs: readonly CommandSpec[],
): ActionSpec | null {
  const spec = specs.find((candidate) => candidate.name === name);
  return spec?.actions.find((action) => action.name === (sub ?? spec.otherwise)) ?? null;
}

/** Commands that can't be undone ask for confirmation first. */
export function asksConfirmation(command: ReplyCommand, specs: readonly CommandSpec[]): boolean {
  return actionOf(command, specs)?.irreversible ?? false;
}

/**
 * Required options that the command lacks and a form asks for: those meant for one, and words, which a button cannot
 * supply.
 */
export function optionsToAsk(command: ReplyCommand, specs: readonly CommandSpec[]): readonly OptionSpec[] {
  const options = actionOf(command, specs)?.options ?? [];
  return options.filter(
    ({ name, required, inForm, rest }) => required && (inForm || rest) && !command.options[name]?.trim(),
  );
}
