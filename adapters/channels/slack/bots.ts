import { z } from 'zod';
import {
  type Activity,
  type ChannelSink,
  type ConversationKey,
  describe,
  isStrataError,
  type LoadImage,
  type MessageAt,
  type Post,
  StrataError,
} from '../../../src/adapter-kit.ts';
import { createSlackBot, isWorkspace, teamOf } from './bot.ts';
import { type Connection, createConnection, type Listener } from './connection/connection.ts';
import { createCursors } from './inbound/cursors.ts';
import { endingOf } from './inbound/leaving.ts';
import { createDepartures, lookHourly } from './install/departures.ts';
import { createInstallations } from './install/installations.ts';
import { createInstalledRoster } from './install/installed.ts';
import { type OAuthOptions, oauthOptions } from './install/oauth.ts';
import { createRenewal } from './install/renewal.ts';
import { createSoleRoster, type Roster } from './install/roster.ts';
import { openTokenEncryption } from './install/token-encryption.ts';
import type { SlackOptions } from './options.ts';
import { placeOfKey } from './places/place.ts';
import { oauthOf, settingsOf } from './settings.ts';
import { createWeb, isOfToken } from './web/web.ts';
import { openWorkspace, type Workspace, whenReached } from './web/workspace.ts';
import { bodySchema } from './wire.ts';

/** The bots of all workspaces behind the app's one connection. */
export interface SlackBots {
  start(): Promise<void>;
  post(post: Post, options: { readonly signal: AbortSignal }): Promise<{ readonly platformMessageId: string }>;
  show(conversation: ConversationKey, activity: Activity): void;
  linkTo(message: MessageAt): Promise<string | null>;
  readonly loadImage: LoadImage;
  stop(): Promise<void>;
}

export interface SlackBotsOptions extends SlackOptions {
  readonly sink: ChannelSink;
  /** Aborted when the bots stop. */
  readonly over: AbortController;
}

/** Waits until Slack can be reached. Throws `PLATFORM_REFUSED` if the token is invalid. */
export async function openSlackBots(options: SlackBotsOptions): Promise<SlackBots> {
  const { over } = options;
  const { roster, oauth } = await openRoster(options, over.signal);
  const watch = createRefusalWatch(options, { roster, signal: over.signal });
  const listener = createListener(options, { roster, signal: over.signal, watch });
  const connection = createConnection({ ...options, listener, oauth, onRefused: watch.refused });
  return createSlackBots(options, { roster, connection, over, watch });
}

interface RefusalWatch {
  /** Checks whether the token is still valid. Never rejects. */
  look(): Promise<void>;
  refused(error: StrataError): void;
}

/** Called with one sentence when nothing can work any more. */
function createRefusalWatch(
  { log, onRefused }: SlackBotsOptions,
  { roster, signal }: Pick<Routing, 'roster' | 'signal'>,
): RefusalWatch {
  let isOver = false;
  const refused = (error: StrataError): void => {
    if (isOver || signal.aborted) return;
    isOver = true;
    log.error(error.message);
    onRefused?.(error);
  };
  return {
    refused,
    async look() {
      const error = await roster.refusal();
      if (error !== null) refused(error);
    },
  };
}

interface Running {
  readonly roster: Roster;
  readonly connection: Connection;
  readonly over: AbortController;
  readonly watch: RefusalWatch;
}

function createSlackBots({ clock, log }: SlackBotsOptions, { roster, connection, over, watch }: Running): SlackBots {
  let tidied: Promise<void> = Promise.resolve();
  return {
    async start() {
      for (const bot of await roster.all()) await bot.prepare();
      if (over.signal.aborted) return;
      await connection.start();
      tidied = lookHourly({ clock, log, signal: over.signal }, () => roster.tidy());
    },
    async post(post, options) {
      const { teamId } = placeOfKey(post.conversation);
      const bot = await roster.of(teamId);
      if (bot !== null) {
        return await bot.post(post, options).catch(async (error: unknown) => {
          if (error instanceof StrataError && isOfToken(error.cause)) await watch.look();
          throw error;
        });
      }
      throw new StrataError('POST_FAILED', {
        channel: 'Slack',
        reason: `the app is not installed in ${teamId}`,
        final: true,
      });
    },
    async linkTo(message) {
      const bot = await roster.of(placeOfKey(message.conversation).teamId).catch(() => null);
      return (await bot?.linkTo(message)) ?? null;
    },
    async loadImage(image, options) {
      const bot = await roster.of(placeOfKey(image.conversation).teamId).catch(() => null);
      return (await bot?.loadImage(image, options)) ?? null;
    },
    show: (conversation, activity) => roster.running(placeOfKey(conversation).teamId)?.show(conversation, activity),
    async stop() {
      over.abort();
      await connection.stop();
      await roster.stop();
      await tidied;
    },
  };
}

interface OpenedRoster {
  readonly roster: Roster;
  readonly oauth: OAuthOptions | null;
}

/** One workspace with its token, or all workspaces that installed the app. */
async function openRoster(options: SlackBotsOptions, signal: AbortSignal): Promise<OpenedRoster> {
  const { settings, state } = options;
  const { conversations } = options.sink;
  const cursors = createCursors(conversations);
  const open = (workspace: Workspace) => {
    const { teamId } = workspace;
    const sink = { ...options.sink, conversations: { ...conversations, heard: cursors(teamId) } };
    return createSlackBot({ ...options, settings: settingsOf(settings, teamId), sink, workspace, signal });
  };
  const departures = createDepartures({ ...options, signal });
  const keys = oauthOf(settings);
  if (keys === null) {
    const token = settings.bot_token ?? '';
    const web = createWeb(token, { ...options, signal });
    const workspace = await whenReached({ ...options, signal }, () => openWorkspace(web, token));
    return { roster: createSoleRoster(open(workspace), departures), oauth: null };
  }
  const encryption = await openTokenEncryption(keys.installationKey);
  const installations = createInstallations(state, encryption);
  const renew = createRenewal({ ...options, installations });
  const secretFor = (teamId: string) => encryption.secretFor(`buttons ${teamId}`);
  const roster = createInstalledRoster({ ...options, installations, signal, open, renew, secretFor, departures });
  return { roster, oauth: oauthOptions({ ...options, installations, encryption }) };
}

interface Routing {
  readonly roster: Roster;
  readonly signal: AbortSignal;
  readonly watch: RefusalWatch;
}

/** Passes each event to the bot of its workspace. */
function createListener({ log }: SlackBotsOptions, { roster, signal, watch }: Routing): Listener {
  const botFor = async (teamId: string) => {
    try {
      return await roster.of(teamId);
    } catch (error) {
      if (!isStrataError(error, 'SECRET_UNREADABLE')) throw error;
      log.error('Received an event from a workspace that is not served', { team: teamId, cause: describe(error) });
      return null;
    }
  };
  const firstServed = async (teamIds: readonly string[]) => {
    for (const teamId of teamIds) {
      const bot = await botFor(teamId);
      if (bot !== null) return bot;
    }
    return null;
  };
  const connect = async (): Promise<void> => {
    for (const bot of await roster.all()) bot.connected();
  };
  const pass =
    (kind: 'command' | 'action' | 'shortcut' | 'view'): Listener[typeof kind] =>
    async (body, acknowledge) => {
      const bot = await firstServed(interactingTeams(body));
      if (bot === null) await acknowledge();
      else await bot[kind](body, acknowledge);
    };
  return {
    async event(event, body) {
      // Not acknowledged, so Slack sends it again, to another process or after the next start.
      if (signal.aborted) throw new Error('the bot is stopping');
      const teamId = teamOf(bodySchema.parse(body));
      const ending = endingOf(event);
      if (ending !== null) {
        await roster.ended(teamId, ending);
        return await watch.look();
      }
      await (await botFor(teamId))?.event(event, body);
    },
    async withheld(minute) {
      await (await botFor(minute.teamId))?.withheld(minute);
    },
    command: pass('command'),
    action: pass('action'),
    shortcut: pass('shortcut'),
    view: pass('view'),
    lost() {
      roster.all().then(
        (bots) => {
          for (const bot of bots) bot.lost();
        },
        (error: unknown) =>
          log.debug('A lost connection could not be reported to the workspaces', { cause: describe(error) }),
      );
    },
    connected() {
      connect().catch((error: unknown) => {
        log.error('Missed messages could not be looked for', { cause: describe(error) });
      });
      watch.look().catch(() => undefined);
    },
  };
}

const id = z.string().nullish().catch(null);
const interactionSchema = z.object({
  team_id: id,
  team: z.object({ id }).nullish().catch(null),
  user: z.object({ team_id: id }).nullish().catch(null),
  view: z.object({ app_installed_team_id: id, team_id: id }).nullish().catch(null),
});

/**
 * The workspace of the app comes first. In a shared channel, a form names it; in an organization, some of these may name
 * the organization or another workspace of it.
 */
function interactingTeams(body: unknown): readonly string[] {
  const { team_id: own, team, user, view } = interactionSchema.parse(body);
  const named = [view?.app_installed_team_id, own, team?.id, view?.team_id, user?.team_id];
  return [...new Set(named.filter(isWorkspace))];
}
