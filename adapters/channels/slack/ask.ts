import { type ActionSpec, commandSpecs, type OptionSpec, type ReplyCommand } from '../../../src/index.ts';

/** The action that a command means; null for none of ours. */
export function actionOf({ path: [name, sub] }: Pick<ReplyCommand, 'path'>): ActionSpec | null {
  const spec = commandSpecs.find((candidate) => candidate.name === name);
  return spec?.actions.find((action) => action.name === (sub ?? spec.otherwise)) ?? null;
}

/** What cannot be undone is asked about first. */
export function asksConfirmation(command: ReplyCommand): boolean {
  return actionOf(command)?.irreversible ?? false;
}

/** The text that a form has to ask for: a button cannot bring it. */
export function missingFormOption(command: ReplyCommand): OptionSpec | null {
  const options = actionOf(command)?.options ?? [];
  return options.find(({ rest, required, name }) => rest && required && !command.options[name]?.trim()) ?? null;
}
