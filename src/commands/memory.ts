import { MEMORY_KINDS } from '../ports/memory-store.ts';
import type { Command } from './command.ts';
import { approve, demote, edit, pin, reject, remember, restore, unpin } from './memory-change.ts';
import { forget } from './memory-forget.ts';
import { held, release, strike } from './memory-held.ts';
import { exportAll, list, search, show, suggestIds, why } from './memory-read.ts';
import { type ActionSpec, choiceOption, pageOption, textOption } from './spec.ts';

const id = textOption('id', 'Of the memory, as memory list shows it', { required: true, suggests: true });

function reading(name: string, description: string, options: ActionSpec['options']): ActionSpec {
  return { name, description, options, access: 'member', irreversible: false };
}

function changing(name: string, description: string, options: ActionSpec['options']): ActionSpec {
  return { name, description, options, access: 'subject', irreversible: false };
}

function managing(name: string, description: string, options: ActionSpec['options']): ActionSpec {
  return { name, description, options, access: 'moderator', irreversible: name === 'strike' };
}

const heldId = textOption('id', 'Of the sentence, as the list of held sentences shows it', { required: true });

export const memory: Command = {
  spec: {
    name: 'memory',
    description: 'What the bot remembers: look at it, see why, correct it, forget it, take a copy',
    actions: [
      reading('list', 'What is remembered and may be read here', [
        choiceOption('kind', 'Only this kind', MEMORY_KINDS),
        pageOption,
        textOption('about', 'Only about this person: me (wherever it is kept), or a name'),
      ]),
      reading('search', 'Memories that match, the best first', [
        textOption('query', 'What to look for', { required: true, rest: true }),
        pageOption,
      ]),
      reading('show', 'Everything kept of one memory', [id]),
      reading('why', 'The messages that a memory came from, and what happened to it since', [id]),
      changing('edit', 'Correct the wording of a memory', [
        id,
        textOption('text', 'What it should say', { required: true, rest: true }),
      ]),
      changing('pin', 'Keep a memory in front, never faded', [id]),
      changing('unpin', 'Let a pinned memory fade like the others', [id]),
      changing('demote', 'Take a memory out of use until it is confirmed again', [id]),
      changing('restore', 'Take up again a memory that another one has replaced', [id]),
      changing('approve', 'Take up a candidate, so that it is recalled', [id]),
      changing('reject', 'Say that a memory is wrong: it is never recalled again', [id]),
      // It asks by itself, when it has found out what would go.
      changing('forget', 'Delete a memory with what it came from; shows first what would go, and asks', [
        textOption('id', 'Of the memory; #12 for a message; words that it says; or "me" for everything about you', {
          required: true,
          rest: true,
          suggests: true,
        }),
        textOption('confirm', 'The word that the question gives, or "yes"'),
      ]),
      reading('remember', 'Have something remembered as you say it', [
        textOption('text', 'What to remember', { required: true, rest: true }),
      ]),
      reading('export', 'A copy of what is kept about you', [
        textOption('person', 'Id of somebody else, for moderators'),
      ]),
      managing('held', 'Sentences about somebody who asked to have them forgotten; they wait for a decision', [
        pageOption,
      ]),
      managing('release', 'Put a sentence that is held back where it stood', [heldId]),
      managing('strike', 'Delete a sentence that is held back', [heldId]),
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
    export: exportAll,
    held,
    release,
    strike,
  },
  suggest: { id: suggestIds },
};
