import { ComponentType, TextInputStyle } from 'discord.js';
import type { OptionSpec, ReplyCommand } from '../../../../src/adapter-kit.ts';
import type { WireInteraction } from '../wire.ts';
import { clip } from './render.ts';

const MAX_INPUT = 4000;
const LABEL = 45;

export interface FormOptions {
  readonly customId: string;
  readonly command: ReplyCommand;
  /** One to five. */
  readonly options: readonly OptionSpec[];
  /** Initial value of the first text field. */
  readonly text: string;
}

/** A form with a field for each missing option of a command. */
export function formOf({ customId, command, options, text }: FormOptions) {
  const first = options.find(({ kind }) => kind === 'text');
  return {
    custom_id: customId,
    title: clip(`/${command.path.join(' ')}`, LABEL),
    components: options.map((option) => ({
      type: ComponentType.Label,
      label: clip(option.description, LABEL),
      component: option.kind === 'choice' ? choiceField(option) : textField(option, option === first ? text : ''),
    })),
  };
}

function textField({ name, rest, kind, maxLength }: OptionSpec, text: string) {
  const most = Math.min(MAX_INPUT, maxLength);
  const value = text.slice(0, most).toWellFormed();
  return {
    type: ComponentType.TextInput,
    custom_id: name,
    style: kind === 'text' && rest ? TextInputStyle.Paragraph : TextInputStyle.Short,
    required: true,
    max_length: most,
    ...(value === '' ? {} : { value }),
  };
}

function choiceField({ name, choices }: OptionSpec) {
  const options = choices.map((choice) => ({ label: choice, value: choice }));
  return { type: ComponentType.StringSelect, custom_id: name, required: true, options };
}

type Rows = NonNullable<NonNullable<WireInteraction['data']>['components']>;

/** The fields of a submitted form by name. */
export function formValues(rows: Rows): Readonly<Record<string, string>> {
  const fields = rows.flatMap(({ component, components }) => [...(component ? [component] : []), ...components]);
  return Object.fromEntries(fields.map(({ custom_id: name, value, values }) => [name, values?.[0] ?? value]));
}
