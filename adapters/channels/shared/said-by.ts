import { type Author, plainName } from '../../../src/adapter-kit.ts';

/**
 * A message as a statement about its author. A memory keeps no label, so its words say that a bot or a webhook wrote it,
 * whose name may be that of a person.
 */
export function saidBy({ name, kind }: Author, text: string): string {
  return `${plainName(name)}${kind === 'bot' ? ' (bot)' : ''} said: ${text}`;
}
