/** The commands of the CLI, in the order of its help. */
export const COMMANDS = [
  'start',
  'chat',
  'send',
  'import',
  'replay',
  'recall',
  'context',
  'why',
  'what-if',
  'summaries',
  'transcript',
  'cost',
  'memory',
  'config',
  'prompts',
  'backup',
  'restore',
  'inspect',
  'doctor',
] as const;

export type CommandName = (typeof COMMANDS)[number];
