import {
  asksConfirmation,
  describe,
  errorReply,
  type OptionSpec,
  optionsToAsk,
  type ReplyCommand,
  readCommandLine,
} from '../../../../src/adapter-kit.ts';
import { type Button, FOREIGN_BUTTON, OTHERS_BUTTON } from '../../shared/buttons.ts';
import { completed, currentText, EMPTY_FORM, INVALID_FORM } from '../../shared/forms.ts';
import {
  FORGOTTEN,
  forgetQuestion,
  forgetRefusal,
  NOTHING_TO_REMEMBER,
  rememberCommand,
  whyCommand,
} from '../../shared/message-menus.ts';
import { createRunning } from '../../shared/running.ts';
import type { Acknowledge } from '../connection/connection.ts';
import { authorOf } from '../inbound/context.ts';
import { chosenText } from '../map.ts';
import { WHY_BUTTON } from '../outbound/post.ts';
import { conversationsOf } from '../places/place.ts';
import type { BotServices } from '../services.ts';
import { prefixOf } from '../settings.ts';
import { actionSchema, shortcutSchema, slashSchema, viewSchema, type WireClick } from '../wire.ts';
import { confirmForm, formValues, inputForm, type Opened, readOpened } from './form.ts';
import { isListing, LIST } from './home.ts';
import {
  answer,
  confirmationOf,
  type Interaction,
  type InteractionOptions,
  invocationOf,
  openForm,
  UNSERVED,
} from './interaction.ts';
import { canStillRead } from './membership.ts';
import { readTyped } from './mentions.ts';
import { FORGET_MENU, forgetCommand, REMEMBER_MENU, WHY_MENU } from './menus.ts';

export interface CommandServices extends InteractionOptions, Pick<BotServices, 'clock' | 'signal'> {
  /** Refreshes a person's App Home. */
  readonly refreshHome: (userId: string, command: ReplyCommand) => Promise<void>;
}

/** Slash commands, message shortcuts, buttons and forms. */
export interface CommandHandlers {
  command(body: unknown, acknowledge: Acknowledge): Promise<void>;
  action(body: unknown, acknowledge: Acknowledge): Promise<void>;
  shortcut(body: unknown, acknowledge: Acknowledge): Promise<void>;
  view(body: unknown, acknowledge: Acknowledge): Promise<void>;
  drained(): Promise<void>;
}

export function createCommandHandlers(services: CommandServices): CommandHandlers {
  const running = createRunning();
  /** Slack waits three seconds for the acknowledgement and half an hour for the answer. */
  const serve = async (acknowledge: Acknowledge, work: () => Promise<void>): Promise<void> => {
    await acknowledge();
    const own = work().catch((error: unknown) => {
      services.log.warn('A command could not be answered', { cause: describe(error) });
    });
    await running.track(own);
  };
  return {
    command: (body, acknowledge) => serve(acknowledge, () => slash(services, body)),
    action: (body, acknowledge) => serve(acknowledge, () => press(services, body)),
    shortcut: (body, acknowledge) => serve(acknowledge, () => shortcut(services, body)),
    view: (body, acknowledge) => serve(acknowledge, () => submit(services, body)),
    drained: running.drained,
  };
}

async function slash(services: CommandServices, body: unknown): Promise<void> {
  const { command, text, user_id: userId, team_id: teamId, channel_id: channelId, ...rest } = slashSchema.parse(body);
  const interaction = {
    userId,
    teamId,
    channelId,
    threadTs: null,
    triggerId: rest.trigger_id,
    responseUrl: rest.response_url,
    isHome: false,
  };
  const read = readCommandLine(lineOf(command, text, services.settings.command_prefix), typedIn(services));
  if (read.kind === 'refused') return await answer(services, interaction, { reply: read.reply });
  const { command: typed, mentions } = await readTyped(services.places, read.command, channelId);
  await run(services, { ...interaction, mentions }, { command: typed, replace: false });
}

/** `/strata memory list` and `/strata-memory list` mean `/memory list`; `/strata` alone shows help. */
export function lineOf(command: string, text: string, prefix: string): string {
  const own = command.replace(/^\//, '');
  const words = text.trim().replace(/^\//, '');
  if (own === prefix) return `/${words === '' ? 'help' : words}`;
  const name = own.startsWith(`${prefix}-`) ? own.slice(prefix.length + 1) : own;
  return `/${name} ${words}`.trim();
}

async function press(services: CommandServices, body: unknown): Promise<void> {
  const click = actionSchema.parse(body);
  const { user, channel, container, message, view, actions } = click;
  const [action] = actions;
  const isHome = view?.type === 'home';
  const channelId = channel?.id ?? (await homeOf(services, user.id));
  const interaction = { ...clickOf(click), channelId, threadTs: container?.thread_ts ?? null, isHome };
  if (action?.action_id === WHY_BUTTON && message) {
    return await run(services, interaction, { command: whyCommand(message.ts), replace: false });
  }
  const button = services.buttons.read(action?.selected_option?.value ?? action?.value ?? '');
  if (button === null) {
    return await answer(services, interaction, { reply: errorReply(FOREIGN_BUTTON) });
  }
  if (button.ownerId !== user.id) {
    return await answer(services, interaction, { reply: errorReply(OTHERS_BUTTON) });
  }
  if (isHome && isListing(button.command)) return await services.refreshHome(user.id, button.command);
  await run(services, interaction, { command: button.command, replace: button.kind === 'page' });
}

/** Who clicked, and how to answer. */
function clickOf({ user, team, trigger_id: triggerId, response_url: responseUrl }: WireClick) {
  return { userId: user.id, teamId: user.team_id ?? team?.id ?? null, triggerId, responseUrl };
}

/** A person's direct message, which the App Home belongs to. */
async function homeOf({ workspace }: CommandServices, userId: string): Promise<string> {
  const { channel } = await workspace.web.conversations.open({ users: userId });
  return channel?.id ?? '';
}

async function shortcut(services: CommandServices, body: unknown): Promise<void> {
  const click = shortcutSchema.parse(body);
  const { callback_id: id, user, channel, message } = click;
  const threadTs = message.thread_ts ?? null;
  const interaction = { ...clickOf(click), channelId: channel.id, threadTs, isHome: false };
  if (id === WHY_MENU) return await run(services, interaction, { command: whyCommand(message.ts), replace: false });
  const author = await authorOf(services, message);
  const names = await services.places.namesFor(message, channel.id);
  const chosen = { author, text: chosenText(message, names) };
  if (id === REMEMBER_MENU) {
    const command = rememberCommand(chosen, user.id);
    if (command === null) return await answer(services, interaction, { reply: errorReply(NOTHING_TO_REMEMBER) });
    return await run(services, interaction, { command, replace: false });
  }
  if (id !== FORGET_MENU) return;
  const command = forgetCommand(message, author);
  const opened = openedBy(services, interaction, { kind: 'forget', command });
  await openForm(services, interaction, confirmForm({ opened, command, ...typedIn(services) }, forgetQuestion(chosen)));
}

async function submit(services: CommandServices, body: unknown): Promise<void> {
  const click = viewSchema.parse(body);
  const { user, view } = click;
  const opened = readOpened(view.private_metadata);
  if (opened === null) return;
  const { sealed, responseUrl, channelId, threadTs } = opened;
  const interaction = { ...clickOf(click), channelId, threadTs, responseUrl, isHome: responseUrl === '' };
  const button = services.buttons.read(sealed);
  if (button === null) return await answer(services, interaction, { reply: errorReply(INVALID_FORM) });
  if (button.ownerId !== user.id) return;
  const isReader = await canStillRead(services, {
    channelId: await services.channelIds.first(channelId),
    userId: user.id,
  });
  if (!isReader) return await answer(services, interaction, { reply: UNSERVED });
  if (button.kind === 'forget') return await forget(services, interaction, button.command);
  if (button.kind === 'confirm')
    return await execute(services, interaction, { command: button.command, replace: false });
  const command = completed(button.command, formValues(view.state.values));
  // A form is not answered with the same one.
  if (optionsToAsk(command, services.sink.commandSpecs).length > 0) {
    return await answer(services, interaction, { reply: errorReply(EMPTY_FORM) });
  }
  await run(services, interaction, { command, replace: false });
}

async function forget(services: CommandServices, interaction: Interaction, { options }: ReplyCommand): Promise<void> {
  const invocation = await invocationOf(services, interaction);
  if (invocation === null) return await answer(services, interaction, { reply: UNSERVED });
  const { ts = '', thread = '', author = '' } = options;
  const refusal = forgetRefusal(author, invocation);
  if (refusal !== null) return await answer(services, interaction, { reply: refusal });
  const channelIds = await services.channelIds.all(interaction.channelId);
  const said = { channelIds, ts, threadTs: thread === '' ? null : thread };
  for (const conversation of conversationsOf(services.workspace.teamId, said)) {
    await services.sink.removed({ conversation, externalIds: [ts] });
  }
  await answer(services, interaction, { reply: FORGOTTEN });
}

interface Execution {
  readonly command: ReplyCommand;
  readonly replace: boolean;
}

/** What it takes to write a command as people type it here. */
function typedIn({ sink, settings }: CommandServices) {
  return { specs: sink.commandSpecs, prefix: prefixOf(settings) };
}

/** First asks for missing values or a confirmation; then runs the command. */
async function run(services: CommandServices, interaction: Interaction, execution: Execution): Promise<void> {
  const { command } = execution;
  const { commandSpecs: specs } = services.sink;
  const missing = optionsToAsk(command, specs);
  if (missing.length > 0) return await ask(services, interaction, { command, options: missing });
  if (asksConfirmation(command, specs)) {
    const opened = openedBy(services, interaction, { kind: 'confirm', command });
    return await openForm(services, interaction, confirmForm({ opened, command, ...typedIn(services) }, null));
  }
  await execute(services, interaction, execution);
}

async function execute(
  services: CommandServices,
  interaction: Interaction,
  { command, replace }: Execution,
): Promise<void> {
  const invocation = await invocationOf(services, interaction);
  if (invocation === null) return await answer(services, interaction, { reply: UNSERVED });
  // Search results replace the list, with its pages and menus.
  if (interaction.isHome && isListing(command)) return await services.refreshHome(interaction.userId, command);
  const reply = await services.sink.command({ ...invocation, ...command });
  await answer(services, interaction, { reply, replace });
  if (interaction.isHome && CHANGING.has(command.path[1] ?? '') && confirmationOf(reply) === undefined) {
    await services.refreshHome(interaction.userId, LIST);
  }
}

/** Commands that change the list in the App Home. */
const CHANGING = new Set(['edit', 'pin', 'unpin', 'approve', 'reject', 'forget', 'remember']);

async function ask(
  services: CommandServices,
  interaction: Interaction,
  { command, options }: { readonly command: ReplyCommand; readonly options: readonly OptionSpec[] },
): Promise<void> {
  const invocation = await invocationOf(services, interaction);
  if (invocation === null) return await answer(services, interaction, { reply: UNSERVED });
  const opened = openedBy(services, interaction, { kind: 'run', command });
  const text = await currentText(services.sink, { ...invocation, ...command });
  const form = inputForm({ opened, command, prefix: prefixOf(services.settings), options }, text);
  await openForm(services, interaction, form);
}

function openedBy(
  services: CommandServices,
  interaction: Interaction,
  button: Pick<Button, 'kind' | 'command'>,
): Opened {
  const { channelId, threadTs, userId, responseUrl, isHome } = interaction;
  const sealed = services.buttons.write({ ...button, ownerId: userId });
  return { sealed, responseUrl: isHome ? '' : responseUrl, channelId, threadTs };
}
