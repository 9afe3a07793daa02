import { modelsOf } from '../../config/directory.ts';
import { noteErasure } from '../../conversation/inbound/erased.ts';
import type { Audience } from '../../domain/message.ts';
import { createOptOut } from '../../memory/people/opt-out.ts';
import type { CommandReply } from '../../ports/reply.ts';
import { counted, formatNumber } from '../../util/text/text.ts';
import { type Call, type Command, commandTo, nothingYet, typed } from '../command.ts';
import { makeReply, sentences } from '../reply.ts';
import { action, choiceOption } from '../spec.ts';
import { remainsNote } from './remains.ts';
import { unreadNote } from './unread.ts';

export const privacy: Command = {
  spec: {
    name: 'privacy',
    description: 'What is stored about you, where, and who can read it; pause or resume learning about you',
    actions: [
      action('show', 'Show what is stored, where, and who can read it'),
      action('pause', 'Store no new memories about you; the bot still reads what you say'),
      action('resume', 'Resume learning about you'),
      action('erase', 'Delete all stored data of this conversation: messages, summaries, memories', {
        options: [{ ...choiceOption('confirm', 'Type yes to delete everything', ['yes']), required: true }],
        access: 'moderator',
        irreversible: true,
        ephemeral: false,
      }),
    ],
    otherwise: 'show',
  },
  run: { show, pause, resume, erase },
};

async function show(call: Call): Promise<CommandReply> {
  const { services, invocation, conversation, reader } = call;
  const { author } = invocation;
  const paused = await createOptOut(services.state).isPaused(personOf(call));
  const mine = await services.store.memories.list({ reader, subjectId: author.id, limit: MAX_COUNTED, offset: 0 });
  const elsewhere = (await services.memories.withheld(author.id, reader)).length;
  const count = mine.length === MAX_COUNTED ? `${MAX_COUNTED} or more` : formatNumber(mine.length);
  return makeReply('Privacy', {
    fields: [
      {
        name: 'Stored here',
        value: `${counted((conversation?.nextSeq ?? 1) - 1, 'message', 'messages')}, in full unless deleted, with their summaries`,
      },
      {
        name: 'Memories about you',
        value: `${count} ${mine.length === 1 ? 'statement' : 'statements'}${unreadNote(conversation)}`,
      },
      ...(elsewhere === 0
        ? []
        : [{ name: 'Memories about you elsewhere', value: `${formatNumber(elsewhere)}, not readable from here` }]),
      { name: 'Learning about you', value: paused ? 'paused' : 'on' },
      { name: 'Stored in', value: services.dataLocation },
      { name: 'Readable by', value: READERS[reader.audience] },
      { name: 'Sent to', value: receiversOf(call) },
    ],
    actions: [
      { label: 'Show memories about you', command: commandTo('memory list', { about: 'me' }), style: 'plain' },
      paused
        ? { label: 'Resume learning', command: commandTo('privacy resume'), style: 'plain' }
        : { label: 'Pause learning', command: commandTo('privacy pause'), style: 'plain' },
      { label: 'Get a copy', command: commandTo('memory export'), style: 'plain' },
    ],
  });
}

/** All models that get messages of the conversation. */
function receiversOf({ agent, services: { reranker } }: Call): string {
  const { compaction, recall } = agent;
  const models = modelsOf(agent);
  const isOwn = compaction.model === 'auto' || models.includes(compaction.model);
  const isOrdered = reranker !== null && recall.rerank_model !== '';
  return [
    `the model ${models.map((model) => (model === 'auto' ? 'chosen at startup' : model)).join(', otherwise ')}`,
    ...(isOwn ? [] : [`for summaries and memories ${compaction.model}`]),
    ...(isOrdered ? [`to order earlier messages ${recall.rerank_model}`] : []),
  ].join('; ');
}

async function pause(call: Call): Promise<CommandReply> {
  await createOptOut(call.services.state).pause(
    { ...personOf(call), name: call.invocation.author.name },
    call.services.clock.now(),
  );
  return makeReply('Learning is paused', {
    text: `The bot stores no new memories about you here. Existing ones stay until you forget them (${typed(call, 'memory list about=me')}).`,
    tone: 'success',
  });
}

async function resume(call: Call): Promise<CommandReply> {
  await createOptOut(call.services.state).resume(personOf(call), call.services.clock.now());
  return makeReply('Learning is on', { text: 'The bot may remember what you say from now on.', tone: 'success' });
}

async function erase(call: Call): Promise<CommandReply> {
  const { services, conversation } = call;
  if (conversation === null) return nothingYet('Privacy');
  await noteErasure(services, conversation);
  await services.store.conversations.change(conversation.id, { kind: 'purge' });
  return makeReply('Everything is deleted', {
    text: sentences(
      'The messages of this conversation, their summaries and the memories from them were deleted permanently.',
      await remainsNote(call),
    ),
    tone: 'success',
    ephemeral: false,
  });
}

function personOf({ invocation }: Call) {
  return { conversation: invocation.conversation, authorId: invocation.author.id };
}

const MAX_COUNTED = 1000;

const READERS: Readonly<Record<Audience, string>> = {
  dm: 'only you, in this direct message',
  private: 'the members of this private channel',
  public: 'everyone who can read this channel',
};
