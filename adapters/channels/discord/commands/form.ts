import { ComponentType, TextInputStyle } from 'discord.js';
import type { OptionSpec, ReplyCommand } from '../../../../src/adapter-kit.ts';
import type { WireInteraction } from '../wire.ts';

const MAX_INPUT = 4000;

export interface FormOptions {
  readonly customId: string;
  readonly command: ReplyCommand;
  readonly option: OptionSpec;
  /** What stands in the field already. */
  readonly text: string;
}

/** A form with one long field for the text that a command lacks. */
export function formOf({ customId, command, option, text }: FormOptions) {
  const value = text.slice(0, MAX_INPUT).toWellFormed();
  return {
    custom_id: customId,
    title: `/${command.path.join(' ')}`.slice(0, 45),
    components: [
      {
        type: ComponentType.Label,
        label: option.description.slice(0, 45),
        component: {
          type: ComponentType.TextInput,
          custom_id: option.name,
          style: TextInputStyle.Paragraph,
          required: true,
          max_length: MAX_INPUT,
          ...(value === '' ? {} : { value }),
        },
      },
    ],
  };
}

type Rows = NonNullable<NonNullable<WireInteraction['data']>['components']>;

/** The fields of a submitted form by their names. */
export function formValues(rows: Rows): Readonly<Record<string, string>> {
  const fields = rows.flatMap(({ component, components }) => [
    ...(component ? [component] : []),
    ...(components ?? []),
  ]);
  return Object.fromEntries(fields.map(({ custom_id: name, value }) => [name, value]));
}
