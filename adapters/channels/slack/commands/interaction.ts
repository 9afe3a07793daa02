import {
  type ChannelSink,
  type CommandInvocation,
  type CommandReply,
  type ConversationKey,
  describe,
  errorReply,
  type Log,
} from '../../../../src/adapter-kit.ts';
import { isServed } from '../access.ts';
import type { ChannelIds } from '../channel-ids.ts';
import { isDirect, keyOf } from '../place.ts';
import { heardIn, isForeign, nameOf, type Places } from '../places.ts';
import type { SlackSettings } from '../settings.ts';
import type { Workspace } from '../workspace.ts';
import type { Button, Buttons } from './buttons.ts';
import { MAX_METADATA, previewForm } from './form.ts';
import { type ReplyMessage, toMessage } from './render.ts';
import type { Responder } from './respond.ts';

export interface VisitOptions {
  readonly workspace: Workspace;
  readonly settings: SlackSettings;
  readonly sink: ChannelSink;
  readonly places: Places;
  readonly channelIds: ChannelIds;
  readonly buttons: Buttons;
  readonly responder: Responder;
  readonly log: Log;
}

/** Where an interaction came from, and everything that answering it needs. */
export interface Visit {
  readonly userId: string;
  readonly teamId: string | null;
  readonly channelId: string;
  readonly threadTs: string | null;
  readonly triggerId: string;
  /** Empty in the App Home. */
  readonly responseUrl: string;
  readonly isHome: boolean;
}

interface Answer {
  readonly reply: CommandReply;
  /** Replaces the message with the button. */
  readonly replace?: boolean;
}

export const UNSERVED = errorReply('The bot does not serve you here.');

/** Soon after somebody has lost a role in the workspace, their commands have no more rights than anybody's. */
const MAX_ROLE_AGE_MS = 60_000;

/** Null if the access lists exclude the person or the place. */
export async function invocationOf(options: VisitOptions, visit: Visit): Promise<CommandInvocation | null> {
  const { settings, workspace, places } = options;
  const { userId } = visit;
  const channelId = await options.channelIds.first(visit.channelId);
  const user = await places.user(userId, { maxAgeMs: MAX_ROLE_AGE_MS });
  const isOutsider = isForeign(user, { home: user?.team_id ?? visit.teamId, own: workspace.teamId });
  if (!isServed(settings, { channelId, userId, isOutsider })) return null;
  const channel = isDirect(channelId, null) ? null : await places.channel(channelId);
  const manages = !isOutsider && (user?.is_admin === true || user?.is_owner === true || channel?.creator === userId);
  return {
    conversation: await conversationOf(options, { ...visit, channelId }),
    ...(await heardIn(places, { id: channelId, type: null })),
    author: { id: userId, name: nameOf(user) ?? userId, kind: 'person' },
    rights: settings.operators.includes(userId) ? 'operator' : manages ? 'moderator' : 'member',
    path: [],
    options: {},
  };
}

/** Slack sends no thread with a command: in a direct message with many threads, the newest one applies. */
async function conversationOf({ workspace, settings, sink }: VisitOptions, visit: Visit): Promise<ConversationKey> {
  const { channelId, threadTs } = visit;
  const own = keyOf({ teamId: workspace.teamId, channelId, threadTs });
  if (threadTs !== null || !isDirect(channelId, null) || settings.direct_conversation === 'person') return own;
  for await (const { conversation } of sink.conversations.heardIn(own)) return conversation;
  return own;
}

/** Slack allows a form to open only within three seconds of the click; later ones are replaced by a message. */
export async function openForm(
  options: VisitOptions,
  visit: Visit,
  view: { readonly private_metadata: string },
): Promise<void> {
  if (view.private_metadata.length > MAX_METADATA) {
    const reply = errorReply(
      'That text is too long for a confirmation. Use an id from /memory list, or a shorter text.',
    );
    return await answer(options, { ...visit, isHome: false }, { reply });
  }
  try {
    await open(options, visit, view);
  } catch (error) {
    options.log.warn('Slack did not open a form', { cause: describe(error) });
    const reply = errorReply('Slack could not open the form in time. Try again.');
    await answer(options, { ...visit, isHome: false }, { reply });
  }
}

async function open({ workspace }: VisitOptions, { triggerId }: Visit, view: object): Promise<void> {
  await workspace.web.apiCall('views.open', { trigger_id: triggerId, view });
}

/** The action that a reply asks the person to confirm; undefined if it asks nothing, so the command has run. */
export function confirmationOf({ actions }: CommandReply): CommandReply['actions'][number] | undefined {
  return actions.find(({ style }) => style === 'danger');
}

export async function answer(options: VisitOptions, visit: Visit, { reply, replace = false }: Answer): Promise<void> {
  const seal = (button: Pick<Button, 'deed' | 'command'>) =>
    options.buttons.write({ ...button, ownerId: visit.userId });
  const prefix = `/${options.settings.command_prefix} `;
  const message = toMessage(reply, { seal, specs: options.sink.commandSpecs, prefix });
  const confirmed = confirmationOf(reply);
  if (visit.isHome && confirmed !== undefined) {
    const { channelId, threadTs } = visit;
    const opened = {
      sealed: seal({ deed: 'confirm', command: confirmed.command }),
      responseUrl: '',
      channelId,
      threadTs,
    };
    const blocks = message.blocks.filter(({ type }) => type !== 'actions');
    return await openForm(options, visit, previewForm(opened, { title: reply.title, submit: confirmed.label, blocks }));
  }
  if (visit.isHome) return await show(options, visit, { message, title: reply.title });
  const { responseUrl, channelId, threadTs, userId } = visit;
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
  options: VisitOptions,
  visit: Visit,
  { message, title }: { readonly message: ReplyMessage; readonly title: string },
): Promise<void> {
  const { channelId, userId } = visit;
  const direct = { responseUrl: '', channelId, threadTs: null, userId };
  const note = () => options.responder.answer(direct, message, { ephemeral: true, replace: false });
  if (message.files.length > 0) return await note();
  const view = {
    type: 'modal',
    title: { type: 'plain_text', text: title.slice(0, 24).toWellFormed() },
    close: { type: 'plain_text', text: 'Close' },
    blocks: message.blocks.filter(({ type }) => type !== 'actions'),
  };
  await open(options, visit, view).catch(note);
}
