import { ApplicationCommandType, InteractionContextType, InteractionType, PermissionFlagsBits } from 'discord.js';
import {
  actionOf,
  asksConfirmation,
  type CommandInvocation,
  type CommandReply,
  createRecentMap,
  describe,
  type OptionSpec,
  optionsToAsk,
  type ReplyCommand,
  type Rights,
} from '../../../../src/adapter-kit.ts';
import { type ButtonKind, FOREIGN_BUTTON, OTHERS_BUTTON } from '../../shared/buttons.ts';
import { completed, currentText, EMPTY_FORM, INVALID_FORM } from '../../shared/forms.ts';
import { heardBy } from '../../shared/heard-by.ts';
import { NOTHING_TO_REMEMBER, rememberCommand, whyCommand } from '../../shared/message-menus.ts';
import { createRunning } from '../../shared/running.ts';
import { dropped, problemOf } from '../drops.ts';
import { authorOf } from '../map.ts';
import { WHY_BUTTON } from '../outbound/post.ts';
import { isServed } from '../places/access.ts';
import { keyOf, type Place } from '../places/place.ts';
import type { BotServices } from '../services.ts';
import { interactionSchema, type WireInteraction, type WireOption } from '../wire.ts';
import type { Buttons } from './buttons.ts';
import { FORGET_MENU, REMEMBER_MENU, WHY_MENU } from './command-json.ts';
import { formOf, formValues } from './form.ts';
import { canStillRead, mayRead } from './membership.ts';
import { readTyped } from './mentions.ts';
import { chosenMessage, forgetMenu, forgetMessage } from './menus.ts';
import { bodyOf, toMessage } from './render.ts';
import { confirmation, notice, plainReply, type Shown } from './replies.ts';
import { type Answer, createResponder, type Responder, soon } from './respond.ts';

export interface CommandServices extends Omit<BotServices, 'signal'> {
  readonly buttons: Buttons;
  /** The owners of the bot, as recorded by Discord. */
  readonly ownerIds: () => readonly string[];
  /** Whether Discord may be asked who an id is that somebody typed. */
  readonly mayLookUp: () => boolean;
}

/** Slash commands, message menus, buttons, forms and completions. */
export interface CommandHandlers {
  packet(type: string, data: unknown): void;
  drained(): Promise<void>;
}

const MAX_SEEN = 1_000;

export function createCommandHandlers(services: CommandServices): CommandHandlers {
  const running = createRunning();
  // A command runs once, however often the gateway sends it. Messages need no such list: the store knows theirs.
  const seen = createRecentMap<string, true>(MAX_SEEN);
  return {
    packet(type, data) {
      if (type !== 'INTERACTION_CREATE') return;
      const read = interactionSchema.safeParse(data);
      if (!read.success)
        return dropped(services.sink, { reason: 'malformed', event: type, problem: problemOf(read.error) });
      if (seen.has(read.data.id)) return;
      seen.set(read.data.id, true);
      const work = serve(services, read.data).catch((error: unknown) => {
        services.log.warn('A command could not be answered', { ...nameOf(read.data), cause: describe(error) });
      });
      void running.track(work);
    },
    drained: running.drained,
  };
}

/** The command that was called, without the typed values. */
function nameOf({ type, data, channel_id: channel, guild_id: server }: WireInteraction) {
  const { path } = commandOf(data?.name ?? '', data?.options ?? []);
  const command = data?.name ? `/${path.join(' ')}` : (InteractionType[type] ?? `interaction ${type}`);
  return { command, channel: channel ?? null, server: server ?? null };
}

/** One interaction with everything that answering it needs. */
interface InteractionContext {
  readonly services: CommandServices;
  readonly interaction: WireInteraction;
  readonly responder: Responder;
  readonly place: Place;
  readonly invoke: (command: ReplyCommand) => CommandInvocation;
  readonly userId: string;
}

async function serve(services: CommandServices, interaction: WireInteraction): Promise<void> {
  const responder = createResponder(interaction, services);
  const context = await openInteraction(services, interaction, responder);
  const isTyping = interaction.type === InteractionType.ApplicationCommandAutocomplete;
  if (context === null) {
    return isTyping ? await responder.choices([]) : await say(responder, notice(UNSERVED));
  }
  switch (interaction.type) {
    case InteractionType.ApplicationCommand:
      return await (interaction.data?.type === ApplicationCommandType.Message ? menu(context) : slash(context));
    case InteractionType.ApplicationCommandAutocomplete:
      return await complete(context);
    case InteractionType.MessageComponent:
      return await ifReader(context, press);
    case InteractionType.ModalSubmit:
      return await ifReader(context, submit);
    default:
      return;
  }
}

/** Buttons and forms may outlive the membership of their person. */
async function ifReader(context: InteractionContext, work: typeof press): Promise<void> {
  const { services, interaction, place, userId } = context;
  const permissions = interaction.member?.permissions ?? '0';
  if (await canStillRead(services, { place, userId, permissions })) return await work(context);
  await say(context.responder, notice(UNSERVED));
}

const UNSERVED =
  'The bot does not serve you here: it cannot see this place, you cannot read its history, or its operators excluded you or the place. Try a direct message.';

/** Null if the access lists exclude the person or the place, or if the person cannot read the history there. */
async function openInteraction(
  services: CommandServices,
  interaction: WireInteraction,
  responder: Responder,
): Promise<InteractionContext | null> {
  const { member, guild_id: guildId } = interaction;
  const channelId = interaction.channel_id ?? interaction.channel?.id;
  const user = member?.user ?? interaction.user;
  // People can take an app along into direct messages and groups that the bot is not part of.
  if (!user || !channelId || interaction.context === InteractionContextType.PrivateChannel) return null;
  const direct: Place = { guildId: null, channelId, threadId: null, audience: 'dm' };
  const place = guildId || member ? await services.places.find(channelId, guildId ?? null) : direct;
  if (place === null) return null;
  if (!isServed(services.settings, { place, userId: user.id, roleIds: member?.roles ?? [] })) return null;
  if (!mayRead(member?.permissions, services.places.readingOf(channelId))) return null;
  const base = {
    conversation: keyOf(services.bot, place),
    ...heardBy(place),
    author: authorOf(user, member),
    rights: rightsOf(services, user.id, member?.permissions ?? '0'),
  };
  return { services, interaction, responder, place, userId: user.id, invoke: (command) => ({ ...base, ...command }) };
}

const MANAGES =
  PermissionFlagsBits.Administrator |
  PermissionFlagsBits.ManageGuild |
  PermissionFlagsBits.ManageChannels |
  PermissionFlagsBits.ManageMessages;

/** The permissions in an interaction are those of the person in exactly that channel. */
function rightsOf(
  { settings, ownerIds }: Pick<CommandServices, 'settings' | 'ownerIds'>,
  userId: string,
  permissions: string,
): Rights {
  if (settings.operators.includes(userId) || ownerIds().includes(userId)) return 'operator';
  return (BigInt(permissions) & MANAGES) === 0n ? 'member' : 'moderator';
}

async function slash(context: InteractionContext): Promise<void> {
  const { services, interaction, place } = context;
  const { path, options: given } = commandOf(interaction.data?.name ?? '', interaction.data?.options ?? []);
  const names = services.places.namesIn(place);
  const { options, mentions } = await readTyped(given, { ...services, interaction, place, names });
  const invoke = (command: ReplyCommand) => ({ ...context.invoke(command), mentions });
  await run({ ...context, invoke }, { path, options }, 'answer');
}

/** A sub-command appears as an option that contains the options. */
function commandOf(name: string, options: readonly WireOption[]): ReplyCommand {
  const [first] = options;
  const isNested = first?.options !== undefined && first.options !== null;
  const given = isNested ? (first.options ?? []) : options;
  const values = given.flatMap((option) =>
    option.value == null ? [] : [[option.name, String(option.value)] as const],
  );
  return { path: isNested || first?.type === 1 ? [name, first.name] : [name], options: Object.fromEntries(values) };
}

async function complete({ services, interaction, invoke, responder }: InteractionContext): Promise<void> {
  const options = interaction.data?.options ?? [];
  const command = commandOf(interaction.data?.name ?? '', options);
  const focused = options.flatMap((option) => [option, ...(option.options ?? [])]).find((option) => option.focused);
  const found = focused === undefined ? [] : await services.sink.suggest(invoke(command), focused.name);
  await responder.choices(
    found
      .slice(0, 25)
      .map(({ label, value }) => ({ name: label.slice(0, 100).toWellFormed(), value: value.slice(0, 100) })),
  );
}

async function menu(context: InteractionContext): Promise<void> {
  const { data } = context.interaction;
  const target = data?.resolved?.messages.get(data.target_id ?? '');
  if (target === undefined) return await say(context.responder, notice('Discord did not send the message. Try again.'));
  const names = context.services.places.namesIn(context.place);
  if (data?.name === REMEMBER_MENU) {
    const command = rememberCommand(chosenMessage(target, names), context.userId);
    if (command !== null) return await run(context, command, 'answer');
    return await say(context.responder, notice(NOTHING_TO_REMEMBER));
  }
  if (data?.name === WHY_MENU) return await run(context, whyCommand(target.id), 'answer');
  if (data?.name === FORGET_MENU) await context.responder.answer(render(context, forgetMenu(target, names)), true);
}

/** First asks for missing values or a confirmation; then runs the command. */
async function run(context: InteractionContext, command: ReplyCommand, how: 'answer' | 'update'): Promise<void> {
  const { commandSpecs } = context.services.sink;
  const missing = optionsToAsk(command, commandSpecs);
  if (missing.length > 0) return await ask(context, command, missing);
  if (asksConfirmation(command, commandSpecs)) {
    return await context.responder.answer(render(context, confirmation(command, commandSpecs)), true);
  }
  const work = execute(context, command);
  await (how === 'update'
    ? context.responder.update(work)
    : context.responder.answer(work, actionOf(command, commandSpecs)?.ephemeral ?? true));
}

async function ask(context: InteractionContext, command: ReplyCommand, options: readonly OptionSpec[]): Promise<void> {
  const { services, responder, userId, invoke } = context;
  const customId = await services.buttons.write({ kind: 'run', ownerId: userId, command });
  // A form must come at once: better without the old wording than not at all.
  const text = (await soon(services.clock, currentText(services.sink, invoke(command)))) ?? '';
  await responder.form(formOf({ customId, command, options, text }));
}

async function press(context: InteractionContext): Promise<void> {
  const { services, responder, interaction, userId } = context;
  const { data, message } = interaction;
  if (data?.custom_id === WHY_BUTTON && message) return await run(context, whyCommand(message.id), 'answer');
  const read = await services.buttons.read(data?.custom_id ?? '');
  if (read.kind === 'foreign') return await say(responder, notice(FOREIGN_BUTTON));
  if (read.kind === 'expired') return await say(responder, notice('This list has expired. Use the command again.'));
  const { kind, ownerId, command } = read.button;
  if (ownerId !== userId) return await say(responder, notice(OTHERS_BUTTON));
  await HANDLERS[kind](context, command);
}

const HANDLERS: Readonly<Record<ButtonKind, (context: InteractionContext, command: ReplyCommand) => Promise<void>>> = {
  page: (context, command) => run(context, command, 'update'),
  run: (context, command) => run(context, command, 'answer'),
  confirm: async (context, command) => {
    const done = await render(context, plainReply('Everyone here sees the answer.'));
    await context.responder.conclude(execute(context, command), done);
  },
  cancel: (context) => context.responder.update(render(context, plainReply('Nothing was changed.'))),
  forget: (context, command) => {
    const reply = forgetMessage(context.services.sink, context.invoke(command));
    return context.responder.update(reply.then((one) => rendered(context, one)));
  },
};

async function submit(context: InteractionContext): Promise<void> {
  const { services, responder, interaction, userId } = context;
  const read = await services.buttons.read(interaction.data?.custom_id ?? '');
  if (read.kind !== 'button' || read.button.ownerId !== userId) {
    return await say(responder, notice(INVALID_FORM));
  }
  const command = completed(read.button.command, formValues(interaction.data?.components ?? []));
  // A form cannot be answered with another one.
  if (optionsToAsk(command, services.sink.commandSpecs).length > 0) {
    return await say(responder, notice(EMPTY_FORM));
  }
  await run(context, command, 'answer');
}

async function execute(context: InteractionContext, command: ReplyCommand): Promise<Answer> {
  return await rendered(context, await context.services.sink.command(context.invoke(command)));
}

async function rendered(context: InteractionContext, reply: CommandReply): Promise<Answer> {
  return await render(context, { reply, buttons: null });
}

async function render({ services, userId }: InteractionContext, { reply, buttons }: Shown): Promise<Answer> {
  const message = toMessage(reply, services.sink.commandSpecs);
  const sealed = await Promise.all(
    (buttons ?? message.buttons).map(async (button) => ({
      button,
      customId: await services.buttons.write({ kind: button.kind, ownerId: userId, command: button.command }),
    })),
  );
  return { body: bodyOf(message, sealed), files: message.files, ephemeral: reply.ephemeral };
}

async function say(responder: Responder, answer: Answer): Promise<void> {
  await responder.answer(Promise.resolve(answer), true);
}
