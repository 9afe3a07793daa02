import {
  actionOf,
  type CommandReply,
  type CommandSpec,
  errorReply,
  formatCommand,
  makeReply,
  type ReplyCommand,
} from '../../../../src/adapter-kit.ts';
import type { ReplyButton } from '../../shared/buttons.ts';
import { CONFIRMATION } from '../../shared/confirmation.ts';
import { bodyOf, toMessage } from './render.ts';
import type { Answer } from './respond.ts';

export interface Shown {
  readonly reply: CommandReply;
  /** Replaces the buttons of the reply. */
  readonly buttons: readonly ReplyButton[] | null;
}

/** One sentence by the channel itself. */
export function plainReply(text: string): Shown {
  return { reply: makeReply('Strata', { text }), buttons: [] };
}

/** The same for people without permission. */
export function notice(text: string): Answer {
  const message = toMessage(errorReply(text), []);
  return { body: bodyOf(message, []), files: [], ephemeral: true };
}

/** The question before an irreversible command. */
export function confirmation(command: ReplyCommand, specs: readonly CommandSpec[]): Shown {
  const what = actionOf(command, specs)?.description ?? '';
  return question(`${formatCommand(command, specs)}\n${what}`, [
    button(CONFIRMATION.submit, 'confirm', command),
    button('Cancel', 'cancel', { path: command.path, options: {} }),
  ]);
}

/** Asks about something irreversible. */
export function question(text: string, buttons: readonly ReplyButton[]): Shown {
  return { reply: makeReply(CONFIRMATION.title, { text, tone: 'error' }), buttons };
}

export function button(label: string, kind: ReplyButton['kind'], command: ReplyCommand): ReplyButton {
  return { label, style: kind === 'cancel' ? 'plain' : 'danger', kind, command };
}
