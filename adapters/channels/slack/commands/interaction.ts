import {
  type Author,
  type CommandInvocation,
  type CommandReply,
  type ConversationKey,
  describe,
  errorReply,
} from '../../../../src/adapter-kit.ts';
import type { Button } from '../../shared/buttons.ts';
import { isServed } from '../places/access.ts';
import { isDirect, keyOf } from '../places/place.ts';
import { heardIn, isForeign, nameOf } from '../places/places.ts';
import type { BotServices } from '../services.ts';
import { prefixOf } from '../settings.ts';
import type { Buttons } from './buttons.ts';
import { MAX_METADATA, previewForm } from './form.ts';
import { type ReplyMessage, toMessage } from './render.ts';
import type { Responder } from './respond.ts';

export interface InteractionOptions
  extends Pick<BotServices, 'workspace' | 'settings' | 'sink' | 'places' | 'channelIds' | 'log'> {
  readonly buttons: Buttons;
  readonly responder: Responder;
}

/** Where an interaction came from, and everything that answering it needs. */
export interface Interaction {
  readonly userId: string;
  readonly teamId: string | null;
  readonly channelId: string;
  readonly threadTs: string | null;
  readonly triggerId: string;
  /** Empty in the App Home. */
  readonly responseUrl: string;
  readonly isHome: boolean;
  /** People whom the typed options mention. */
  readonly mentions?: readonly Author[];
}

interface Answer {
  readonly reply: CommandReply;
  /** Replaces the message with the button. */
  readonly replace?: boolean;
}

export const UNSERVED = errorReply(
  'The bot does not serve you here: it is not part of this conversation, you cannot read it, or its operators excluded you or the place. Try a direct message to the bot.',
);

/** A direct message in which nobody wrote yet is served only once Slack has shown it, so that is worth a wait. */
const MAX_LOOKUP_MS = 10_000;

/** Soon after somebody has lost a role in the workspace, their commands have no more rights than anybody's. */
const MAX_ROLE_AGE_MS = 60_000;

/** Null if the access lists exclude the person or the place, or if it is a direct message between other people. */
export async function invocationOf(
  options: InteractionOptions,
  interaction: Interaction,
): Promise<CommandInvocation | null> {
  const { settings, workspace, places } = options;
  const { userId } = interaction;
  const channelId = await options.channelIds.first(interaction.channelId);
  const user = await places.user(userId, { maxAgeMs: MAX_ROLE_AGE_MS });
  const isOutsider = isForeign(user, { home: user?.team_id ?? interaction.teamId, own: workspace.teamId });
  if (!isServed(settings, { channelId, userId, isOutsider })) return null;
  if (isDirect(channelId, null) && !(await isWithBot(options, channelId))) return null;
  const channel = isDirect(channelId, null) ? null : await places.channel(channelId);
  const manages = !isOutsider && (user?.is_admin === true || user?.is_owner === true || channel?.creator === userId);
  return {
    conversation: await conversationOf(options, { ...interaction, channelId }),
    // As for the event of a mention, Slack does not say what kind of channel it is.
    ...(await heardIn(places, { id: channelId, type: null, isDoubtful: async () => true })),
    author: { id: userId, name: nameOf(user) ?? userId, kind: 'person' },
    rights: settings.operators.includes(userId) ? 'operator' : manages ? 'moderator' : 'member',
    path: [],
    options: {},
    ...(interaction.mentions === undefined ? {} : { mentions: interaction.mentions }),
  };
}

/**
 * People can type commands in each other's direct messages too. What they keep there would not be for one person alone.
 * Slack shows the bot only its own, and sends it the messages of no other.
 */
async function isWithBot({ places, workspace, sink }: InteractionOptions, channelId: string): Promise<boolean> {
  const place = keyOf({ teamId: workspace.teamId, channelId, threadTs: null });
  for await (const _ of sink.conversations.heardIn(place)) return true;
  return (await places.channel(channelId, { waitMs: MAX_LOOKUP_MS })) !== null;
}

/** Slack sends no thread with a command: in a direct message with many threads, the newest one applies. */
async function conversationOf(
  { workspace, settings, sink }: InteractionOptions,
  interaction: Interaction,
): Promise<ConversationKey> {
  const { channelId, threadTs } = interaction;
  const own = keyOf({ teamId: workspace.teamId, channelId, threadTs });
  if (threadTs !== null || !isDirect(channelId, null) || settings.direct_conversation === 'person') return own;
  for await (const { conversation } of sink.conversations.heardIn(own)) return conversation;
  return own;
}

/** Slack allows a form to open only within three seconds of the click; later ones are replaced by a message. */
export async function openForm(
  options: InteractionOptions,
  interaction: Interaction,
  view: { readonly private_metadata: string },
): Promise<void> {
  if (view.private_metadata.length > MAX_METADATA) {
    const list = `${prefixOf(options.settings)}memory list`;
    const reply = errorReply(`That text is too long for a confirmation. Use an id from ${list}, or a shorter text.`);
    return await answer(options, { ...interaction, isHome: false }, { reply });
  }
  try {
    await open(options, interaction, view);
  } catch (error) {
    options.log.warn('Slack did not open a form', { cause: describe(error) });
    const reply = errorReply('Slack could not open the form in time. Try again.');
    await answer(options, { ...interaction, isHome: false }, { reply });
  }
}

async function open({ workspace }: InteractionOptions, { triggerId }: Interaction, view: object): Promise<void> {
  await workspace.web.apiCall('views.open', { trigger_id: triggerId, view });
}

/** The action that a reply asks the person to confirm; undefined if it asks nothing, so the command has run. */
export function confirmationOf({ actions }: CommandReply): CommandReply['actions'][number] | undefined {
  return actions.find(({ style }) => style === 'danger');
}

export async function answer(
  options: InteractionOptions,
  interaction: Interaction,
  { reply, replace = false }: Answer,
): Promise<void> {
  const sign = (button: Pick<Button, 'kind' | 'command'>) =>
    options.buttons.write({ ...button, ownerId: interaction.userId });
  const message = toMessage(reply, { sign, specs: options.sink.commandSpecs, prefix: prefixOf(options.settings) });
  const confirmed = confirmationOf(reply);
  if (interaction.isHome && confirmed !== undefined) {
    const { channelId, threadTs } = interaction;
    const opened = {
      sealed: sign({ kind: 'confirm', command: confirmed.command }),
      responseUrl: '',
      channelId,
      threadTs,
    };
    const blocks = message.blocks.filter(({ type }) => type !== 'actions');
    return await openForm(
      options,
      interaction,
      previewForm(opened, { title: reply.title, submit: confirmed.label, blocks }),
    );
  }
  if (interaction.isHome) return await show(options, interaction, { message, title: reply.title });
  const { responseUrl, channelId, threadTs, userId } = interaction;
  await options.responder.answer({ responseUrl, channelId, threadTs, userId }, message, {
    ephemeral: reply.ephemeral,
    replace,
  });
}

/**
 * The App Home has no place for an answer, so it opens as a dialog, or comes as a direct message if it is too late for
 * one.
 */
async function show(
  options: InteractionOptions,
  interaction: Interaction,
  { message, title }: { readonly message: ReplyMessage; readonly title: string },
): Promise<void> {
  const { channelId, userId } = interaction;
  const direct = { responseUrl: '', channelId, threadTs: null, userId };
  const note = () => options.responder.answer(direct, message, { ephemeral: true, replace: false });
  if (message.files.length > 0) return await note();
  const view = {
    type: 'modal',
    title: { type: 'plain_text', text: title.slice(0, 24).toWellFormed() },
    close: { type: 'plain_text', text: 'Close' },
    blocks: message.blocks.filter(({ type }) => type !== 'actions'),
  };
  await open(options, interaction, view).catch(note);
}
