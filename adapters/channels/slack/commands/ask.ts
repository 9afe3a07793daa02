import { actionOf, type OptionSpec, type ReplyCommand } from '../../../../src/adapter-kit.ts';

/** The text that a form has to ask for: a button cannot bring it. */
export function missingFormOption(command: ReplyCommand): OptionSpec | null {
  const options = actionOf(command)?.options ?? [];
  return options.find(({ rest, required, name }) => rest && required && !command.options[name]?.trim()) ?? null;
}
