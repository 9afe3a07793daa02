import { ZodError } from 'zod';
import {
  type Activity,
  type ChannelSink,
  type ConversationKey,
  describe,
  type LoadImage,
  type MessageAt,
  type Post,
} from '../../../src/adapter-kit.ts';
import { showActivity } from '../shared/show-activity.ts';
import type { WorkingSigns } from '../shared/working-signs.ts';
import { createButtons } from './commands/buttons.ts';
import { createCommandHandlers } from './commands/commands.ts';
import { createHome } from './commands/home.ts';
import { createResponder } from './commands/respond.ts';
import { createSurface, type Surface } from './commands/surface.ts';
import type { Listener } from './connection/connection.ts';
import { dropMalformed, namesOf } from './connection/packets.ts';
import { createAudienceWatch } from './inbound/audience.ts';
import { createCatchUp } from './inbound/catch-up.ts';
import type { LeftOut } from './inbound/catch-up-context.ts';
import { loadImage } from './inbound/files.ts';
import { createFirstMessages } from './inbound/first-messages.ts';
import { createFollowUps } from './inbound/follow-ups.ts';
import { createReceiver, type Receiver } from './inbound/receive.ts';
import { createReceivedEvents, type ReceivedEvents } from './inbound/received-events.ts';
import { createUserContexts } from './inbound/user-context.ts';
import type { SlackOptions } from './options.ts';
import { createDraftRate } from './outbound/draft-rate.ts';
import { createDrafts, type Drafts } from './outbound/drafts.ts';
import { createPlainPosts } from './outbound/plain-posts.ts';
import { createPoster, type Poster } from './outbound/post.ts';
import { createPostRate, type PostRate } from './outbound/post-rate.ts';
import { createTyping } from './outbound/typing.ts';
import { createChannelIds } from './places/channel-ids.ts';
import { permalinkOf } from './places/link.ts';
import { PLATFORM } from './places/place.ts';
import { createPlaces } from './places/places.ts';
import { createThreads } from './places/threads.ts';
import type { BotServices } from './services.ts';
import type { Workspace } from './web/workspace.ts';
import { bodySchema, type WireBody } from './wire.ts';

/** The bot in one workspace: its incoming events and its posts. */
export interface SlackBot extends Listener {
  readonly workspace: Workspace;
  /** Runs before the connection: resumes or removes what an earlier run left behind. Never rejects. */
  prepare(): Promise<void>;
  post(post: Post, options: { readonly signal: AbortSignal }): Promise<{ readonly platformMessageId: string }>;
  show(conversation: ConversationKey, activity: Activity): void;
  linkTo(message: MessageAt): Promise<string | null>;
  readonly loadImage: LoadImage;
  /** Waits for running work. Intake must have ended. */
  stop(): Promise<void>;
}

export interface SlackBotOptions extends SlackOptions {
  readonly sink: ChannelSink;
  readonly workspace: Workspace;
  /** Aborted when intake ends. */
  readonly signal: AbortSignal;
}

export function createSlackBot(options: SlackBotOptions): SlackBot {
  const { workspace, log, clock } = options;
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, options.signal]);
  const services = servicesOf(options, signal);
  const rate = createPostRate(clock);
  const typing = createTyping(services);
  const plainPosts = createPlainPosts(options.state, clock);
  const drafts = createDrafts({ ...services, plainPosts, draftRate: createDraftRate(clock) });
  const poster = createPoster({ ...services, plainPosts, withoutDraft: drafts.cleared, rate });
  const intake = createIntake(services, { poster, rate });
  return {
    workspace,
    ...intake.listener,
    async prepare() {
      intake.opening();
      await intake.recover();
      await drafts.sweep().catch((error: unknown) => {
        log.warn('Drafts of an earlier run could not be removed', { cause: describe(error) });
      });
    },
    post: (post, { signal: ended }) => send({ poster, drafts, typing }, post, { signal: ended }),
    show: (conversation, activity) => showActivity({ typing, drafts }, conversation, activity),
    linkTo: (message) => permalinkOf(workspace, message),
    loadImage: ({ link }, { signal: ended }) => loadImage(link, filesOf(services), ended),
    async stop() {
      over.abort();
      typing.end();
      await intake.drained();
    },
  };
}

function servicesOf(
  { settings, log, state, clock, fetch, workspace, sink }: SlackBotOptions,
  signal: AbortSignal,
): BotServices {
  const { teamId, web } = workspace;
  const channelIds = createChannelIds({ state, clock, log, teamId, web, sink });
  web.redirect(channelIds);
  const places = createPlaces(workspace, { clock, signal });
  const threads = createThreads(state);
  return { settings, log, state, clock, fetch, workspace, sink, channelIds, places, threads, signal };
}

interface Sender {
  readonly poster: Poster;
  readonly drafts: Drafts;
  readonly typing: WorkingSigns;
}

async function send(
  { poster, drafts, typing }: Sender,
  post: Post,
  options: { readonly signal: AbortSignal },
): Promise<{ readonly platformMessageId: string }> {
  typing.stop(post.conversation);
  const takesDraft = post.body.kind === 'text' && post.unaskedAt === undefined;
  const draft = takesDraft ? await drafts.take(post.conversation) : null;
  if (draft === null) {
    const platformMessageId = await poster.send(post, options);
    if (takesDraft) drafts.clear(post.conversation);
    return { platformMessageId };
  }
  try {
    const platformMessageId = await poster.replace(draft, post, options);
    await drafts.settled(post.conversation);
    return { platformMessageId };
  } catch (error) {
    if (options.signal.aborted) throw error;
    // The draft is gone or cannot be changed, so the reply is posted as if there had been none.
    const again = { ...post, attempt: Math.max(2, post.attempt) };
    const platformMessageId = await poster.send(again, options).catch(async (failure: unknown) => {
      await drafts.remove(post.conversation, draft.ts);
      throw failure;
    });
    if (platformMessageId === draft.ts) await drafts.settled(post.conversation);
    else await drafts.remove(post.conversation, draft.ts);
    return { platformMessageId };
  }
}

interface Intake {
  readonly listener: Listener;
  opening(): void;
  /** Resumes events that an earlier run had acknowledged. Never rejects. */
  recover(): Promise<void>;
  drained(): Promise<void>;
}

/** Everything that handles incoming events. */
function createIntake(
  services: BotServices,
  { poster, rate }: { readonly poster: Poster; readonly rate: PostRate },
): Intake {
  const { workspace, state, log } = services;
  const audiences = createAudienceWatch(services);
  const buttons = createButtons(workspace.secret);
  const home = createHome({ ...services, buttons });
  const receivedEvents = createReceivedEvents(services);
  const userContexts = createUserContexts(services);
  const surface = createSurface({ ...services, home, userContexts, rate });
  const receiver = createReceiver({
    ...services,
    audiences,
    firstMessages: createFirstMessages(state),
    followUps: createFollowUps(state, workspace),
    userContexts,
    files: filesOf(services),
    onBegan: surface.began,
  });
  const catchUp = createCatchUp({
    ...services,
    audiences,
    take: receiver.take,
    leftOut: (gap) => tellLeftOut(services, poster, gap),
  });
  const commandHandlers = createCommandHandlers({
    ...services,
    buttons,
    responder: createResponder({ ...services, rate }),
    refreshHome: home.publish,
  });
  const listener: Listener = {
    ...commandHandlers,
    event: (event, body) => takeEvent(services, { receiver, surface, receivedEvents }, { event, body }),
    withheld: ({ since }) => catchUp.withheld(since),
    connected: catchUp.connected,
    lost: catchUp.lost,
  };
  return {
    listener,
    opening: catchUp.opening,
    recover: () =>
      receiver.recover().catch((error: unknown) => {
        log.error('Events of an earlier run could not be read', { cause: describe(error) });
      }),
    async drained() {
      const all = [catchUp, receiver, commandHandlers, surface, receivedEvents, audiences];
      await Promise.all(all.map((one) => one.drained()));
    },
  };
}

/** The second attempt checks for the note first, so a gap that is read again after a crash is not reported twice. */
function tellLeftOut({ log, signal }: BotServices, poster: Poster, { conversation, count, ts }: LeftOut): void {
  const text = `I was offline and did not read ${count === 1 ? '1 older message' : `${count} older messages`} here.`;
  const body = { kind: 'text', text } as const;
  const post = { conversation, nonce: `gap ${ts}`, body, replyTo: null, attempt: 2 };
  poster.send(post, { signal }).catch((error: unknown) => {
    log.debug('The number of unread messages could not be reported', { conversation, cause: describe(error) });
  });
}

function filesOf({ workspace, settings, fetch }: BotServices) {
  return {
    fetch,
    get token() {
      return workspace.token;
    },
    imageBytes: settings.files.image_mb * 1_000_000,
    textBytes: settings.files.text_kb * 1000,
    extraHost: settings.api_url === '' ? '' : new URL(settings.api_url).host,
  };
}

/** The parts that get events. */
interface EventTakers {
  readonly receiver: Receiver;
  readonly surface: Surface;
  readonly receivedEvents: ReceivedEvents;
}

async function takeEvent(
  { workspace, sink, signal }: BotServices,
  { receiver, surface, receivedEvents }: EventTakers,
  { event, body: rawBody }: { readonly event: unknown; readonly body: unknown },
): Promise<void> {
  // Not acknowledged, so Slack sends it again, to another process or after the next start.
  if (signal.aborted) throw new Error('the bot is stopping');
  const body = bodySchema.parse(rawBody);
  if (teamOf(body) !== workspace.teamId) {
    sink.dropped({
      platform: PLATFORM,
      reason: 'unplaced',
      ...namesOf(rawBody),
      problem: 'it belongs to another workspace',
    });
    return;
  }
  receivedEvents.record(event);
  if (showsOn(surface, sink, { type: body.event.type, event })) return;
  await receiver.event({ event, isShared: body.is_ext_shared_channel === true });
}

/** Synchronously, so that the channel a person is viewing is known before their next message. */
function showsOn(surface: Surface, sink: ChannelSink, { type, event }: { type: string; event: unknown }): boolean {
  try {
    return surface.event(type, event);
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    dropMalformed(sink, namesOf({ event }), 'a field of the event is missing');
    return true;
  }
}

/**
 * In a shared channel an event may name the other workspace; its context names the app's. In an organization both may
 * name the organization, another workspace of it, or none; then the installation counts.
 */
export function teamOf({ context_team_id: context, team_id: team, authorizations }: WireBody): string {
  if (isWorkspace(context)) return context;
  const installed = (authorizations ?? []).map((one) => one.team_id).filter(isWorkspace);
  if (isWorkspace(team) && (installed.length === 0 || installed.includes(team))) return team;
  return installed[0] ?? context ?? team ?? '';
}

/** An id of a workspace, not of an organization. */
export function isWorkspace(id: string | null | undefined): id is string {
  return Boolean(id) && !id?.startsWith('E');
}
