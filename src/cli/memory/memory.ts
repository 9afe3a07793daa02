import { type Command, Option } from 'commander';
import type { ConversationKey } from '../../domain/message.ts';
import { MEMORY_KINDS, type MemoryKind } from '../../ports/memory-store.ts';
import { type Cli, globalsOf, withApp, writeJson } from '../cli.ts';
import { runCommand } from '../invoke.ts';
import { requireConversation } from '../options.ts';
import { forgetCommand, printHeld } from './memory-forget.ts';
import { addMemoryOf, listOf, printMemories, recordOf, searchOf } from './memory-records.ts';

interface Options {
  readonly conversation: ConversationKey;
  readonly kind?: MemoryKind;
  readonly json?: boolean;
}

interface ForgetOptions extends Options {
  readonly yes?: boolean;
}

export function addMemory(program: Command, cli: Cli): void {
  const group = program
    .command('memory')
    .description('Show and change the memories of the place that a conversation belongs to.')
    .addHelpText('after', EXAMPLES);
  addLists(group, cli);
  addForget(group, cli);
  addAdd(group, cli);
  for (const [name, description] of ONE_MEMORY) {
    requireConversation(group.command(`${name} <id>`).description(description)).action(
      (id: string, { conversation }: Options, own: Command) =>
        runCommand(cli, own, { conversation, path: ['memory', name], options: { id } }),
    );
  }
  requireConversation(group.command('edit <id> <text...>').description('Change the wording.')).action(
    (id: string, words: readonly string[], ...[{ conversation }, own]: [Options, Command]) =>
      runCommand(cli, own, { conversation, path: ['memory', 'edit'], options: { id, text: words.join(' ') } }),
  );
  requireConversation(
    group.command('export').description('Print everything stored about a person here, as one JSON object.'),
  )
    .requiredOption('--person <id>', 'id of the person: "author.id" in the JSON of `strata transcript` (required)')
    .option('--json', 'accepted for consistency; the output is always JSON')
    .action(async ({ conversation, person }: Options & { readonly person: string }, own: Command) => {
      await runCommand(cli, own, { conversation, path: ['memory', 'export'], options: { person }, fileOnly: true });
    });
}

function addForget(group: Command, cli: Cli): void {
  requireConversation(
    group
      .command('forget <what...>')
      .description(
        'Delete memories and their sources, selected by ids, words, or #12 for a message. Shows them first and asks.',
      ),
  )
    .option('--yes', 'delete without asking')
    .option('--json', 'print what would be deleted (with --yes, what was deleted) as one JSON object')
    .action((what: readonly string[], { conversation, yes = false, json = false }: ForgetOptions, own: Command) =>
      forgetCommand(cli, own, { conversation, what: what.join(' '), yes, json }),
    );
  requireConversation(group.command('held').description('List the sentences hidden until a moderator decides.'))
    .option('--json', 'print a JSON array of sentences')
    .action(({ conversation, json = false }: Options, own: Command) =>
      json
        ? printHeld(cli, own, conversation)
        : runCommand(cli, own, { conversation, path: ['memory', 'held'], options: {} }),
    );
}

const EXAMPLES = `
Every command sees what the place of --conversation can see: memories of other places are not shown.

Examples:
  $ strata memory list --conversation terminal:local:main --json
  $ strata memory why 01jabc --conversation terminal:local:main
  $ strata memory add 'The office closes at six.' --kind fact --conversation terminal:local:main
  $ strata memory forget 01jabc --conversation terminal:local:main --yes`;

const ONE_MEMORY = [
  ['show', 'Show everything stored about a memory.'],
  ['why', 'Show the messages that a memory came from, and its history.'],
  ['pin', 'Pin a memory: rank it higher and never let it decay.'],
  ['unpin', 'Unpin a memory, so that it decays like the others.'],
  ['approve', 'Approve a candidate, so that it is recalled.'],
  ['demote', 'Disable a memory until it is confirmed again.'],
  ['restore', 'Restore a memory that another one has replaced.'],
  ['reject', 'Mark a memory as wrong; it is never recalled again.'],
  ['release', 'Restore a hidden sentence.'],
  ['strike', 'Delete a hidden sentence.'],
] as const;

function addLists(group: Command, cli: Cli): void {
  requireConversation(group.command('list').description('List all memories, the most important first.'))
    .addOption(new Option('--kind <kind>', 'show only this kind').choices(MEMORY_KINDS))
    .option('--json', 'print a JSON array of records')
    .action(async ({ conversation, kind, json = false }: Options, own: Command) => {
      await withApp(cli, globalsOf(own), async (app) => {
        const memories = await listOf(app, conversation, kind ?? null);
        if (json) writeJson(cli, memories.map(recordOf));
        else printMemories(cli, memories);
      });
    });
  requireConversation(group.command('search <query...>').description('List the matching memories, the best first.'))
    .option('--json', 'print a JSON array of records')
    .action(async (words: readonly string[], { conversation, json = false }: Options, own: Command) => {
      await withApp(cli, globalsOf(own), async (app) => {
        const memories = await searchOf(app, conversation, words.join(' '));
        if (json) writeJson(cli, memories.map(recordOf));
        else printMemories(cli, memories);
      });
    });
}

function addAdd(group: Command, cli: Cli): void {
  requireConversation(group.command('add <text...>').description('Add a memory as the operator.'))
    .addOption(new Option('--kind <kind>', 'kind of memory').choices(MEMORY_KINDS).default('fact'))
    .option('--global', 'make it readable everywhere, not only in this place')
    .action(
      async (
        words: readonly string[],
        options: { readonly conversation: ConversationKey; readonly kind: MemoryKind; readonly global?: boolean },
        own: Command,
      ) => {
        await withApp(cli, globalsOf(own), async (app) => {
          const { conversation, kind, global = false } = options;
          const id = await addMemoryOf(app, conversation, { text: words.join(' '), kind, global });
          cli.stdout.write(`${id}\n`);
        });
      },
    );
}
