import { expect, it } from 'vitest';
import { defineCommand } from '../../../src/commands/custom/define.ts';
import { createAddedNames } from '../../../src/plugins/added-names.ts';
import { definePlugin } from '../../../src/plugins/plugin.ts';

const plugin = (name: string) =>
  definePlugin({ name: 'dice', commands: [defineCommand({ name, description: 'Plays.', run: () => 'Done.' })] });

it('names the plugin whose command is the same', () => {
  const names = createAddedNames();
  const add = (name: string, file: string) => names.add({ plugin: file, file }, plugin(name).open({}));
  add('dice roll', 'one.ts');
  add('dice throw', 'two.ts');
  expect(() => add('dice throw', 'three.ts')).toThrow(/"dice throw", which two\.ts adds, too/);
  expect(() => add('status', 'four.ts')).toThrow(/"status", which is built in/);
});
