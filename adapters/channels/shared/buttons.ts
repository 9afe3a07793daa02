import type { CommandReply, ReplyCommand } from '../../../src/adapter-kit.ts';

const KINDS = ['page', 'run', 'confirm', 'cancel', 'forget'] as const;

/**
 * What a button does: `page` changes its list, `run` runs a command, `confirm` the one that its person was asked about,
 * `cancel` nothing, and `forget` removes a message. Slack's forms have their own button to cancel.
 */
export type ButtonKind = (typeof KINDS)[number];

/** For buttons with little room. Buttons outlive versions, so the letters stay. */
const LETTERS = { page: 'p', run: 'r', confirm: 'c', cancel: 'x', forget: 'm' } satisfies Record<ButtonKind, string>;

/** A button as a reply shows it. */
export interface ReplyButton {
  readonly label: string;
  readonly style: 'plain' | 'danger';
  readonly kind: ButtonKind;
  readonly command: ReplyCommand;
}

/** The pages of a reply, then its actions. */
export function replyButtons({ page, actions }: CommandReply): readonly ReplyButton[] {
  const pages: ReplyButton[] = [
    ...(page?.previous ? [{ label: 'Previous', style: 'plain', kind: 'page', command: page.previous } as const] : []),
    ...(page?.next ? [{ label: 'Next', style: 'plain', kind: 'page', command: page.next } as const] : []),
  ];
  return [...pages, ...actions.map((action): ReplyButton => ({ ...action, kind: 'run' }))];
}

/** A button as the platform returns it when it is pressed. */
export interface Button {
  readonly kind: ButtonKind;
  /** Who may press it. */
  readonly ownerId: string;
  readonly command: ReplyCommand;
}

/** The same with its command as text. */
export type ButtonText = Omit<Button, 'command'> & { readonly command: string };

/** A button as text to sign. */
export function writeButton({ kind, ownerId, command }: ButtonText): string {
  return `${LETTERS[kind]}.${ownerId}.${command}`;
}

/** Null if `writeButton` did not write the text. */
export function readButton(text: string): ButtonText | null {
  const [, letter = '', ownerId = '', command = ''] = /^(\w)\.(\w+)\.([\s\S]*)$/.exec(text) ?? [];
  const kind = KINDS.find((known) => LETTERS[known] === letter);
  return kind === undefined ? null : { kind, ownerId, command };
}

/** What people read who press a button that does nothing for them. */
export const FOREIGN_BUTTON = 'This button belongs to an older version of the bot. Use the command again.';
export const OTHERS_BUTTON = 'Only the person who asked can use these buttons.';
