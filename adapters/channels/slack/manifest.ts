import type { webApi } from '@slack/bolt';
import type { CommandSpec } from '../../../src/adapter-kit.ts';
import { FORGET_MENU, REMEMBER_MENU, WHY_MENU } from './commands/menus.ts';
import type { SlackSettings } from './settings.ts';

/** Slack's own types; their list of scopes lacks `assistant:write`. */
type Manifest = Pick<
  Parameters<webApi.WebClient['apps']['manifest']['validate']>[0]['manifest'],
  'display_information' | 'features' | 'settings'
>;
type Named = Pick<
  SlackSettings,
  'transport' | 'surface' | 'commands' | 'command_prefix' | 'prompts' | 'http' | 'client_id'
>;

export const EVENTS_PATH = '/slack/events';
/** Where a workspace starts the installation, and where Slack redirects people afterwards. */
export const INSTALL_PATH = '/slack/install';
export const REDIRECT_PATH = '/slack/oauth_redirect';

/** The purpose of each scope: no scope without a use, and no use without its scope. */
export const SCOPES = [
  ['app_mentions:read', 'mentions'],
  ['assistant:write', 'status, titles and suggestions'],
  ['channels:history', 'messages of public channels, including missed ones'],
  ['channels:read', 'names of channels, and who can read them'],
  ['chat:write', 'replies'],
  ['commands', 'slash commands and shortcuts'],
  ['files:read', 'images and texts that people attach'],
  ['files:write', 'long replies, and copies of memories'],
  ['groups:history', 'messages of private channels'],
  ['groups:read', 'names of private channels'],
  ['im:history', 'direct messages'],
  ['im:read', 'commands in direct messages, and those that began while the bot was offline'],
  ['im:write', 'the direct message of a person, for the App Home and files'],
  ['metadata.message:read', 'finding a reply that was posted before a crash'],
  ['mpim:history', 'messages of groups'],
  ['mpim:read', 'recognising group messages'],
  ['users:read', 'names of people'],
] as const;

const EVENTS = [
  'app_home_opened',
  'app_mention',
  'app_uninstalled',
  'channel_deleted',
  'channel_id_changed',
  'channel_left',
  'channel_shared',
  'channel_unshared',
  'group_deleted',
  'group_left',
  'message.channels',
  'message.groups',
  'message.im',
  'message.mpim',
  'tokens_revoked',
] as const;

const SURFACE_EVENTS = {
  agent: ['app_context_changed'],
  classic: ['assistant_thread_context_changed', 'assistant_thread_started'],
} as const;

/** Every event that is handled, and that the app subscribes to. */
export function wantedEvents({ surface }: Pick<Named, 'surface'>) {
  return [...EVENTS, ...SURFACE_EVENTS[surface]].toSorted((one, other) => one.localeCompare(other, 'en'));
}

/** The app manifest for the configured transport and surface. */
export function manifestOf(settings: Named, specs: readonly CommandSpec[]) {
  const isSocket = settings.transport === 'socket';
  const address = isSocket ? {} : { request_url: eventsUrl(settings) };
  return {
    display_information: {
      name: 'Strata',
      description: 'A chat bot that remembers, and shows what it remembers',
      background_color: '#2c2d30',
    },
    features: {
      ...surfaceOf(settings),
      app_home: { home_tab_enabled: true, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: 'strata', always_online: true },
      slash_commands: slashCommands(settings, specs, isSocket ? {} : { url: eventsUrl(settings) }),
      shortcuts: [
        shortcut('Remember this', REMEMBER_MENU, 'Make the bot remember this message'),
        shortcut('Forget this', FORGET_MENU, 'Make the bot forget this message'),
        shortcut('Why this reply?', WHY_MENU, 'Show what the bot saw before this reply'),
      ],
    },
    oauth_config: { ...redirects(settings), scopes: { bot: SCOPES.map(([scope]) => scope) } },
    settings: {
      event_subscriptions: { ...address, bot_events: [...wantedEvents(settings)] },
      interactivity: { is_enabled: true, ...address },
      org_deploy_enabled: false,
      socket_mode_enabled: isSocket,
      token_rotation_enabled: false,
    },
  };
}

function eventsUrl({ http }: Named): string {
  return `${http.public_url === '' ? 'https://YOUR.SERVER' : http.public_url}${EVENTS_PATH}`;
}

/** Only an app for many workspaces is installed through the bot's own pages. */
function redirects({ client_id: id, http }: Named): { readonly redirect_urls?: readonly string[] } {
  return id === undefined ? {} : { redirect_urls: [`${http.public_url}${REDIRECT_PATH}`] };
}

function surfaceOf({ surface, prompts }: Named) {
  const about = 'Remembers what matters in a conversation; you can view, correct and delete what it remembers.';
  const suggested = prompts.map(({ title, message }) => ({ title, message }));
  return surface === 'agent'
    ? { agent_view: { agent_description: about, suggested_prompts: suggested } }
    : { assistant_view: { assistant_description: about, suggested_prompts: suggested } };
}

function slashCommands(
  { commands, command_prefix: prefix }: Named,
  specs: readonly CommandSpec[],
  address: { readonly url?: string },
) {
  const umbrella = {
    command: `/${prefix}`,
    description: 'Memories, state and settings of the bot',
    usage_hint: 'help | memory list | status | privacy …',
    should_escape: true,
    ...address,
  };
  const each = specs.map(({ name, description, actions }) => ({
    command: `/${prefix}-${name}`,
    description,
    usage_hint:
      actions
        .map((action) => action.name)
        .filter((word) => word !== '')
        .join(' | ') || ' ',
    should_escape: true,
    ...address,
  }));
  return commands === 'all' ? [umbrella, ...each] : [umbrella];
}

function shortcut(name: string, callbackId: string, description: string) {
  return { type: 'message' as const, name, callback_id: callbackId, description };
}

/** JSON, which Slack accepts as well as YAML. */
export function manifestText(settings: Named, specs: readonly CommandSpec[]): string {
  const manifest: Manifest = manifestOf(settings, specs);
  return JSON.stringify(manifest, null, 2);
}
