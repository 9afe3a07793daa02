import { z } from 'zod';
import {
  actionOf,
  type CommandSpec,
  formatCommand,
  type OptionSpec,
  type ReplyCommand,
} from '../../../../src/adapter-kit.ts';
import { CONFIRMATION } from '../../shared/confirmation.ts';
import { clip } from './render.ts';

const MAX_INPUT = 3000;

/** What a form remembers about its origin: the command, signed like a button's, and where its answer goes. */
const openedSchema = z.object({
  sealed: z.string(),
  responseUrl: z.string(),
  channelId: z.string(),
  threadTs: z.string().nullable(),
});
export type Opened = z.infer<typeof openedSchema>;

export function readOpened(metadata: string): Opened | null {
  try {
    return openedSchema.safeParse(JSON.parse(metadata)).data ?? null;
  } catch {
    return null;
  }
}

interface FormOptions {
  readonly opened: Opened;
  readonly command: ReplyCommand;
  /** What commands begin with, such as `/strata `. */
  readonly prefix: string;
}

/** The label of a form's submit button, by the command's verb. */
const SUBMITS = new Map([
  ['search', 'Search'],
  ['edit', 'Save'],
  ['remember', 'Save'],
]);

/** The maximum that Slack stores with a form. */
export const MAX_METADATA = 3_000;

/** A form with a field for each missing option of a command. `text`: the initial value of the first text field. */
export function inputForm(
  { opened, command, prefix, options }: FormOptions & { readonly options: readonly OptionSpec[] },
  text: string,
) {
  const first = options.find(({ kind }) => kind === 'text');
  return {
    ...frame(opened, {
      title: `${prefix}${command.path.join(' ')}`,
      submit: SUBMITS.get(command.path.at(-1) ?? '') ?? 'Run',
    }),
    blocks: options.map((option) => ({
      type: 'input',
      block_id: option.name,
      label: plain(clip(option.description, 150)),
      element: option.kind === 'choice' ? choiceField(option) : textField(option, option === first ? text : ''),
    })),
  };
}

function textField({ name, kind, rest, maxLength }: OptionSpec, text: string) {
  const most = Math.min(MAX_INPUT, maxLength);
  const value = text.slice(0, most).toWellFormed();
  return {
    type: 'plain_text_input',
    action_id: name,
    multiline: kind === 'text' && rest,
    max_length: most,
    ...(value === '' ? {} : { initial_value: value }),
  };
}

function choiceField({ name, choices }: OptionSpec) {
  return {
    type: 'static_select',
    action_id: name,
    options: choices.map((choice) => ({ text: plain(clip(choice, 75)), value: choice })),
  };
}

/** The question before an irreversible command. */
export function confirmForm(
  { opened, command, prefix, specs }: FormOptions & { readonly specs: readonly CommandSpec[] },
  what: string | null,
) {
  const action = actionOf(command, specs);
  const line = action === null ? '' : formatCommand(command, specs, prefix);
  const text = [line, what ?? action?.description ?? ''].filter((part) => part !== '').join('\n');
  return {
    ...frame(opened, CONFIRMATION),
    blocks: [{ type: 'section', text: plain(clip(text, 2900)) }],
  };
}

/** A preview with a button that runs the command, because the App Home has no place for the buttons of an answer. */
export function previewForm(
  opened: Opened,
  { title, submit, blocks }: { readonly title: string; readonly submit: string; readonly blocks: readonly object[] },
) {
  return { ...frame(opened, { title, submit: clip(submit, 24) }), blocks };
}

function frame(opened: Opened, { title, submit }: { readonly title: string; readonly submit: string }) {
  return {
    type: 'modal',
    callback_id: 'strata',
    title: plain(clip(title, 24)),
    submit: plain(submit),
    close: plain('Cancel'),
    private_metadata: JSON.stringify(opened),
  };
}

function plain(text: string) {
  return { type: 'plain_text', text };
}

interface FieldValue {
  readonly value?: string | null | undefined;
  readonly selected_option?: { readonly value: string } | null | undefined;
}

/** The fields of a submitted form by name. */
export function formValues(
  values: Readonly<Record<string, Readonly<Record<string, FieldValue>>>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.values(values).flatMap((fields) =>
      Object.entries(fields).map(([name, field]) => [name, field.selected_option?.value ?? field.value ?? '']),
    ),
  );
}
