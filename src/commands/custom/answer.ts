import { z } from 'zod';
import type { CommandSpec } from '../../ports/command.ts';
import { type CommandReply, type ReplyAction, type ReplyCommand, TONES } from '../../ports/reply.ts';
import { resolveAction } from '../actions.ts';
import { makeReply, takePage } from '../reply.ts';

const text = z.string();

const buttonSchema = z.strictObject({
  label: text,
  /** The words of the command: `poll close`. */
  command: text,
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  style: z.enum(['plain', 'danger']).default('plain'),
});

const contentSchema = z.strictObject({
  title: text.optional(),
  text: text.default(''),
  fields: z.array(z.strictObject({ name: text, value: text })).default([]),
  rows: z.strictObject({ columns: z.array(text), cells: z.array(z.array(text)) }).optional(),
  buttons: z.array(buttonSchema).default([]),
  file: z.strictObject({ name: text, text }).optional(),
  ephemeral: z.boolean().optional(),
  tone: z.enum(TONES).default('info'),
});

const answerSchema = z.union([text.transform((line) => contentSchema.parse({ text: line })), contentSchema]);

/** What a command answers: one text, or its parts. Buttons run commands for the person who asked. */
export type CommandAnswer = z.input<typeof answerSchema>;

export interface AnswerContext {
  /** The command as it was called. */
  readonly command: ReplyCommand;
  readonly ephemeral: boolean;
  /** Shows the rows page by page. */
  readonly paged: boolean;
  readonly specs: readonly CommandSpec[];
}

/** The answer as a reply. Throws for an answer of another shape, and for a button whose command does not exist. */
export function replyOf(answer: unknown, { command, ephemeral, paged, specs }: AnswerContext): CommandReply {
  const { title, rows, buttons, file, ...content } = answerSchema.parse(answer);
  const wanted = Number(command.options['page'] ?? '1');
  const shown = rows !== undefined && paged ? takePage(rows.cells, wanted, { command }) : null;
  return makeReply(title ?? command.path.join(' '), {
    ...content,
    rows: rows === undefined ? null : { columns: rows.columns, cells: shown?.items ?? rows.cells },
    page: shown?.page ?? null,
    actions: buttons.map((button) => actionFor(button, specs)),
    file: file ?? null,
    ephemeral: content.ephemeral ?? ephemeral,
  });
}

function actionFor(button: z.infer<typeof buttonSchema>, specs: readonly CommandSpec[]): ReplyAction {
  const path = button.command.trim().split(/\s+/);
  resolveAction(path, specs);
  const options = Object.fromEntries(Object.entries(button.options).map(([name, value]) => [name, written(value)]));
  return { label: button.label, style: button.style, command: { path, options } };
}

function written(value: string | number | boolean): string {
  return typeof value === 'boolean' ? yesOrNo(value) : String(value);
}

/** A boolean as people type it. */
export function yesOrNo(value: boolean): 'yes' | 'no' {
  return value ? 'yes' : 'no';
}
