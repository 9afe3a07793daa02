import { actionOf, type OptionSpec, type ReplyCommand } from '../../../../src/adapter-kit.ts';
import { isAskedInForm } from './command-json.ts';

/** The text that a form has to ask for. */
export function missingFormOption(command: ReplyCommand): OptionSpec | null {
  const action = actionOf(command);
  return (
    action?.options.find((option) => isAskedInForm(option, action) && !command.options[option.name]?.trim()) ?? null
  );
}
