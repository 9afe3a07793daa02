import { type Command, Option } from 'commander';
import type { ConversationKey } from '../domain/message.ts';
import { MEMORY_KINDS, type MemoryKind } from '../ports/memory-store.ts';
import { type Cli, globalsOf, withApp, writeJson } from './cli.ts';
import { runCommand } from './invoke.ts';
import { forgetCommand, printHeld } from './memory-forget.ts';
import { addMemoryOf, listOf, printMemories, recordOf, searchOf } from './memory-records.ts';
import { addConversation } from './options.ts';

interface Options {
  readonly conversation: ConversationKey;
  readonly kind?: MemoryKind;
  readonly json?: boolean;
}

interface ForgetOptions extends Options {
  readonly yes?: boolean;
}

interface AddOptions {
  readonly conversation: ConversationKey;
  readonly kind: MemoryKind;
  readonly global?: boolean;
}

export function addMemory(program: Command, cli: Cli): void {
  const group = program
    .command('memory')
    .description('Look at what is remembered in the place of a conversation, and change it.')
    .addHelpText('after', EXAMPLES);
  addLists(group, cli);
  addForget(group, cli);
  addAdd(group, cli);
  for (const [name, description] of ONE_MEMORY) {
    addConversation(group.command(`${name} <id>`).description(description), true).action(
      (id: string, { conversation }: Options, own: Command) =>
        runCommand(cli, own, { conversation, path: ['memory', name], options: { id } }),
    );
  }
  addConversation(group.command('edit <id> <text...>').description('Correct the wording.'), true).action(
    (id: string, words: readonly string[], ...[{ conversation }, own]: [Options, Command]) =>
      runCommand(cli, own, { conversation, path: ['memory', 'edit'], options: { id, text: words.join(' ') } }),
  );
  addConversation(group.command('export').description('Everything kept about a person here, as one JSON object.'), true)
    .requiredOption('--person <id>', 'id of the person, as the transcript gives it')
    .option('--json', 'the same; it is always JSON')
    .action(async ({ conversation, person }: Options & { readonly person: string }, own: Command) => {
      await runCommand(cli, own, { conversation, path: ['memory', 'export'], options: { person }, fileOnly: true });
    });
}

function addForget(group: Command, cli: Cli): void {
  addConversation(
    group
      .command('forget <what...>')
      .description('Delete memories with what they came from: ids, words, or #12 for a message. Shows them and asks.'),
    true,
  )
    .option('--yes', 'delete without asking')
    .option('--json', 'print what would be deleted, or with --yes was deleted, as one JSON object')
    .action((what: readonly string[], { conversation, yes = false, json = false }: ForgetOptions, own: Command) =>
      forgetCommand(cli, own, { conversation, what: what.join(' '), yes, json }),
    );
  addConversation(group.command('held').description('Sentences that wait for a decision of a moderator.'), true)
    .option('--json', 'a JSON array of sentences')
    .action(({ conversation, json = false }: Options, own: Command) =>
      json
        ? printHeld(cli, own, conversation)
        : runCommand(cli, own, { conversation, path: ['memory', 'held'], options: {} }),
    );
}

const EXAMPLES = `
Every command reads as the place of --conversation does: what was learnt elsewhere stays there.

Examples:
  $ strata memory list --conversation terminal:local:main --json
  $ strata memory why 01jabc --conversation terminal:local:main
  $ strata memory add 'The office closes at six.' --kind fact --conversation terminal:local:main
  $ strata memory forget 01jabc --conversation terminal:local:main --yes`;

const ONE_MEMORY = [
  ['show', 'Everything kept of one memory.'],
  ['why', 'The messages that it came from, and what happened to it since.'],
  ['pin', 'Keep it in front, never faded.'],
  ['unpin', 'Let it fade like the others.'],
  ['approve', 'Take up a candidate, so that it is recalled.'],
  ['demote', 'Take it out of use until it is confirmed again.'],
  ['restore', 'Take it up again after another one has replaced it.'],
  ['reject', 'Say that it is wrong: never recalled again.'],
  ['release', 'Put a sentence that is held back where it stood.'],
  ['strike', 'Delete a sentence that is held back.'],
] as const;

function addLists(group: Command, cli: Cli): void {
  addConversation(group.command('list').description('All memories, the most important first.'), true)
    .addOption(new Option('--kind <kind>', 'only this kind').choices(MEMORY_KINDS))
    .option('--json', 'a JSON array of records')
    .action(async ({ conversation, kind, json = false }: Options, own: Command) => {
      await withApp(cli, globalsOf(own), async (app) => {
        const memories = await listOf(app, conversation, kind ?? null);
        if (json) writeJson(cli, memories.map(recordOf));
        else printMemories(cli, memories);
      });
    });
  addConversation(group.command('search <query...>').description('Memories that match, the best first.'), true)
    .option('--json', 'a JSON array of records')
    .action(async (words: readonly string[], { conversation, json = false }: Options, own: Command) => {
      await withApp(cli, globalsOf(own), async (app) => {
        const memories = await searchOf(app, conversation, words.join(' '));
        if (json) writeJson(cli, memories.map(recordOf));
        else printMemories(cli, memories);
      });
    });
}

function addAdd(group: Command, cli: Cli): void {
  addConversation(group.command('add <text...>').description('Remember something as the operator.'), true)
    .addOption(new Option('--kind <kind>', 'what it is').choices(MEMORY_KINDS).default('fact'))
    .option('--global', 'readable everywhere, not only in this place')
    .action(async (words: readonly string[], options: AddOptions, own: Command) => {
      await withApp(cli, globalsOf(own), async (app) => {
        const { conversation, kind, global = false } = options;
        const id = await addMemoryOf(app, conversation, { text: words.join(' '), kind, global });
        cli.stdout.write(`${id}\n`);
      });
    });
}
