import { z } from 'zod';
import { actionOf, formatCommand, type OptionSpec, type ReplyCommand } from '../../../../src/adapter-kit.ts';
import { clip } from './render.ts';

const MAX_INPUT = 3000;

/** What a form keeps of where it was opened: the command sealed like a button's, and where its answer goes. */
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
}

/** What the button of a form says, by the word of its command. */
const SUBMITS = new Map([
  ['search', 'Search'],
  ['edit', 'Save'],
  ['remember', 'Save'],
]);

/** As much as Slack keeps with a form. */
export const MAX_METADATA = 3_000;

/** A form with one long field for the text that a command lacks. `text`: what stands in it already. */
export function inputForm({ opened, command }: FormOptions, option: OptionSpec, text: string) {
  const value = text.slice(0, MAX_INPUT).toWellFormed();
  return {
    ...frame(opened, { title: `/${command.path.join(' ')}`, submit: SUBMITS.get(command.path.at(-1) ?? '') ?? 'Run' }),
    blocks: [
      {
        type: 'input',
        block_id: option.name,
        label: plain(clip(option.description, 150)),
        element: {
          type: 'plain_text_input',
          action_id: option.name,
          multiline: true,
          max_length: MAX_INPUT,
          ...(value === '' ? {} : { initial_value: value }),
        },
      },
    ],
  };
}

/** The question before something that cannot be undone. */
export function confirmForm({ opened, command }: FormOptions, what: string | null) {
  const line = actionOf(command) === null ? '' : formatCommand(command);
  const text = [line, what ?? actionOf(command)?.description ?? ''].filter((part) => part !== '').join('\n');
  return {
    ...frame(opened, { title: 'This cannot be undone', submit: 'Do it' }),
    blocks: [{ type: 'section', text: plain(clip(text, 2900)) }],
  };
}

/** What is about to happen, with a button that does it: the App Home has no place for the buttons of an answer. */
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

/** The fields of a submitted form by their names. */
export function formValues(
  values: Readonly<Record<string, Readonly<Record<string, { readonly value?: string | null | undefined }>>>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.values(values).flatMap((fields) => Object.entries(fields).map(([name, { value }]) => [name, value ?? ''])),
  );
}
