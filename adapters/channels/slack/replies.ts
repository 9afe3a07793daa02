import type { CommandReply } from '../../../src/index.ts';

const BARE: CommandReply = {
  title: 'Strata',
  text: '',
  fields: [],
  rows: null,
  page: null,
  actions: [],
  file: null,
  ephemeral: true,
  tone: 'info',
};

export function ownReply(details: Partial<CommandReply>): CommandReply {
  return { ...BARE, ...details };
}

/** For those who are refused. */
export function notice(text: string): CommandReply {
  return ownReply({ title: 'That did not work', text, tone: 'error' });
}
