import type { ActionSpec, CommandSpec, ReplyCommand } from '../../../src/adapter-kit.ts';

const LOCAL_COMMANDS = ['/demo', '/main', '/quit'];

/** Possible values of a command's option. */
export type Suggest = (command: ReplyCommand, option: string) => Promise<readonly { readonly value: string }[]>;

export interface Completion {
  readonly specs: readonly CommandSpec[];
  readonly suggest: Suggest;
}

/** Whole lines that continue the typed one: commands, sub-commands, then ids. */
export async function completeLine(line: string, { specs, suggest }: Completion): Promise<readonly string[]> {
  if (!line.startsWith('/')) return [];
  const names = specs.flatMap((spec) => spec.actions.map((action) => headOf(spec, action)));
  const named = [...names, ...LOCAL_COMMANDS].filter((candidate) => candidate.startsWith(line));
  return named.length > 0 ? named : await completeOption(line, { specs, suggest });
}

async function completeOption(line: string, { specs, suggest }: Completion): Promise<readonly string[]> {
  for (const spec of specs) {
    for (const action of spec.actions) {
      const head = `${headOf(spec, action)} `;
      const option = action.options.find(({ suggests }) => suggests);
      if (option === undefined || !line.startsWith(head)) continue;
      const typed = line.slice(head.length);
      const command = { path: headOf(spec, action).slice(1).split(' '), options: { [option.name]: typed } };
      const values = await suggest(command, option.name);
      return values.filter(({ value }) => value.startsWith(typed)).map(({ value }) => `${head}${value}`);
    }
  }
  return [];
}

function headOf(spec: CommandSpec, action: ActionSpec): string {
  return action.name === '' ? `/${spec.name}` : `/${spec.name} ${action.name}`;
}
