import { MAX_REMEMBERED } from '../../../memory/admission/add.ts';
import type { ActionSpec } from '../../../ports/command.ts';
import { MEMORY_KINDS } from '../../../ports/memory-store.ts';
import type { Command } from '../../command.ts';
import { action, choiceOption, pageOption, textOption } from '../../spec.ts';
import { approve, demote, edit, pin, reject, remember, restore, unpin } from './change.ts';
import { exportPerson } from './export.ts';
import { suggestIds } from './find.ts';
import { forget } from './forget.ts';
import { held, release, strike } from './held.ts';
import { list, search } from './list.ts';
import { show, why } from './show.ts';

const id = textOption('id', 'Id of the memory, as shown by memory list', { required: true, suggests: true });

function reading(name: string, description: string, options: ActionSpec['options']): ActionSpec {
  return action(name, description, { options });
}

function changing(name: string, description: string, options: ActionSpec['options']): ActionSpec {
  return action(name, description, { options, access: 'subject' });
}

function managing(name: string, description: string, options: ActionSpec['options']): ActionSpec {
  return action(name, description, { options, access: 'moderator', irreversible: name === 'strike' });
}

/** A platform that knows the limit lets nobody type more, and lose it. */
const limit = { maxLength: MAX_REMEMBERED };
const heldId = textOption('id', 'Id of the sentence, as shown by memory held', { required: true });

export const memory: Command = {
  spec: {
    name: 'memory',
    description: 'What the bot remembers: list, explain, correct, forget and export it',
    actions: [
      reading('list', 'List the memories that can be read here', [
        choiceOption('kind', 'Only this kind', MEMORY_KINDS),
        pageOption,
        textOption('about', 'Only about this person: me (stored anywhere), or a name'),
      ]),
      reading('search', 'List the matching memories, the best first', [
        textOption('query', 'What to look for', { required: true, rest: true }),
        pageOption,
      ]),
      reading('show', 'Show everything stored about a memory', [id]),
      reading('why', 'Show the messages that a memory came from, and its history', [id]),
      changing('edit', 'Change the wording of a memory', [
        id,
        textOption('text', 'What it should say', { required: true, rest: true, inForm: true, ...limit }),
      ]),
      changing('pin', 'Pin a memory: rank it higher and never let it decay', [id]),
      changing('unpin', 'Unpin a memory, so that it decays like the others', [id]),
      changing('demote', 'Disable a memory until it is confirmed again', [id]),
      changing('restore', 'Restore a memory that another one has replaced', [id]),
      changing('approve', 'Approve a candidate, so that it is recalled', [id]),
      changing('reject', 'Mark a memory as wrong; it is never recalled again', [id]),
      // The command asks for confirmation itself, after it has determined what would be deleted.
      changing('forget', 'Delete a memory and its sources; first shows what would be deleted, and asks', [
        textOption('id', 'Id of the memory; #12 for a message; words it contains; or "me" for everything about you', {
          required: true,
          rest: true,
          suggests: true,
        }),
        textOption('confirm', 'The word given in the question, or "yes"'),
      ]),
      reading('remember', 'Remember a text exactly as you write it', [
        textOption('text', 'What to remember', { required: true, rest: true, ...limit }),
      ]),
      reading('export', 'Export what is stored about you', [
        textOption('person', 'Id of another person; for moderators'),
      ]),
      managing('held', 'List hidden sentences about people who asked to have them forgotten', [pageOption]),
      managing('release', 'Restore a hidden sentence', [heldId]),
      managing('strike', 'Delete a hidden sentence', [heldId]),
    ],
    otherwise: 'list',
  },
  run: {
    list,
    search,
    show,
    why,
    edit,
    pin,
    unpin,
    approve,
    demote,
    restore,
    reject,
    forget,
    remember,
    export: exportPerson,
    held,
    release,
    strike,
  },
  suggest: { id: suggestIds },
};
