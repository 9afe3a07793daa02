import { type CommandSpec, type OptionSpec, optionsToAsk, type ReplyCommand } from '../../../src/adapter-kit.ts';

/** Asks line by line for a command's missing values, like a form on other platforms. */
export interface Questions {
  /** Whether the next line answers a question. */
  readonly isOpen: boolean;
  /** The command if nothing is missing; otherwise null, and the first question is shown. */
  begin(command: ReplyCommand): ReplyCommand | null;
  /** The command after the last answer. An empty line cancels it. */
  answer(line: string): ReplyCommand | null;
  cancel(): void;
}

export function createQuestions(parts: {
  readonly specs: readonly CommandSpec[];
  readonly show: (text: string) => void;
}): Questions {
  let open: { readonly command: ReplyCommand; readonly option: OptionSpec } | null = null;
  const begin = (command: ReplyCommand): ReplyCommand | null => {
    const [option] = optionsToAsk(command, parts.specs);
    open = option === undefined ? null : { command, option };
    if (option === undefined) return command;
    parts.show(questionOf(option));
    return null;
  };
  return {
    get isOpen() {
      return open !== null;
    },
    begin,
    answer(line) {
      const asked = open;
      open = null;
      if (asked === null) return null;
      const value = chosen(asked.option, line.trim());
      if (value === '') {
        parts.show('Cancelled.');
        return null;
      }
      const { path, options } = asked.command;
      return begin({ path, options: { ...options, [asked.option.name]: value } });
    },
    cancel() {
      open = null;
    },
  };
}

function questionOf({ description, choices }: OptionSpec): string {
  const lines = choices.map((choice, index) => `  ${index + 1}. ${choice}`);
  return [`${description} (an empty line cancels):`, ...lines].join('\n');
}

/** A choice can be entered by its number. */
function chosen({ choices }: OptionSpec, line: string): string {
  return /^\d{1,3}$/.test(line) ? (choices[Number(line) - 1] ?? line) : line;
}
