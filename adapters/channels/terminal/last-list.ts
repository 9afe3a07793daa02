import type { CommandReply, ReplyCommand } from '../../../src/adapter-kit.ts';

/** The list shown last. Its rows can be referred to by number (`#1`) instead of by ids of 26 characters. */
export interface LastList {
  /** Remembers the ids of a list. Returns the reply with numbered rows. */
  number(reply: CommandReply): CommandReply;
  /** Whether a command names a row by its number. */
  isMeantBy(command: ReplyCommand): boolean;
  /** Replaces row numbers in a command by ids. A number without a row stays. */
  resolve(command: ReplyCommand): ReplyCommand;
}

const ROW_NUMBER = /^#\d{1,3}$/;

export function createLastList(): LastList {
  let ids: readonly string[] = [];
  return {
    number(reply) {
      const { rows } = reply;
      if (rows === null || rows.columns[0] !== 'ID') return reply;
      ids = rows.cells.map(([id = '']) => id);
      const cells = rows.cells.map((row, index) => [`#${index + 1}`, ...row]);
      return { ...reply, rows: { columns: ['', ...rows.columns], cells } };
    },
    isMeantBy: ({ options }) => ROW_NUMBER.test(options['id'] ?? ''),
    resolve(command) {
      const { id = '' } = command.options;
      const found = ROW_NUMBER.test(id) ? ids[Number(id.slice(1)) - 1] : undefined;
      return found === undefined ? command : { ...command, options: { ...command.options, id: found } };
    },
  };
}
