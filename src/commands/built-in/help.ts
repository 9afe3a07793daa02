import type { Access, CommandSpec } from '../../ports/command.ts';
import type { CommandReply } from '../../ports/reply.ts';
import { findCommand } from '../actions.ts';
import { type Call, type Command, optionOf, typed } from '../command.ts';
import { makeReply } from '../reply.ts';
import { singleAction, textOption, usageOf } from '../spec.ts';

export const help: Command = {
  spec: singleAction('help', 'List the commands of the bot', {
    options: [textOption('command', 'The command to explain', { suggests: true })],
  }),
  run: {
    '': async (call) => {
      const name = optionOf(call, 'command');
      return name === null ? overview(call) : explain(call, name.replace(/^\//, '').toLowerCase());
    },
  },
  suggest: {
    command: async ({ specs }) =>
      specs.map(({ name, description }) => ({ label: `${name}: ${description}`, value: name })),
  },
};

function overview(call: Call): CommandReply {
  const { specs, agent } = call;
  const answering = {
    mention: 'It answers when it is mentioned, and always in a direct message.',
    active: 'It answers every message.',
    observe: 'It reads the messages here, but does not answer.',
  }[agent.mode];
  return makeReply('Help', {
    text: `Messages here are stored and summarised, and the bot remembers what matters. ${answering}\n${typed(call, 'help <command>')} explains a command.`,
    fields: specs.map((spec) => ({ name: typed(call, spec.name), value: `${spec.description}${namesOf(spec)}` })),
  });
}

function namesOf(spec: CommandSpec): string {
  const names = spec.actions.flatMap((action) => (action.name === '' ? [] : [action.name]));
  return names.length === 0 ? '' : `\n${names.join(', ')}`;
}

function explain(call: Call, name: string): CommandReply {
  const { specs } = call;
  const spec = findCommand(name, specs);
  return makeReply(typed(call, spec.name), {
    text: spec.description,
    fields: spec.actions.map((action) => ({
      name: typed(call, usageOf(spec, action)),
      value: [
        `${action.description}${WHO[action.access]}`,
        ...action.options.map(
          (option) =>
            `${option.name}: ${option.description}${option.kind === 'choice' ? ` (${option.choices.join(', ')})` : ''}`,
        ),
      ].join('\n'),
    })),
  });
}

const WHO: Readonly<Record<Access, string>> = {
  member: '',
  subject: ' (the person it is about, and moderators)',
  moderator: ' (moderators; anyone in a direct message)',
  operator: ' (operators of the bot)',
};
