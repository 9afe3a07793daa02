import { actionOf, type CommandSpec, type OptionSpec, type ReplyCommand } from '../../../../src/adapter-kit.ts';

/** The options that a form must ask for, because a button cannot supply text. */
export function missingOptions(command: ReplyCommand, specs: readonly CommandSpec[]): readonly OptionSpec[] {
  const options = actionOf(command, specs)?.options ?? [];
  return options.filter(
    ({ inForm, rest, required, name }) => required && (inForm || rest) && !command.options[name]?.trim(),
  );
}
