import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Installation as BoltInstallation, HTTPReceiverOptions } from '@slack/bolt';
import { type Clock, describe, type Log, type StateStore } from '../../../../src/adapter-kit.ts';
import { passes } from '../../shared/access-list.ts';
import { INSTALL_PATH, REDIRECT_PATH, SCOPES } from '../manifest.ts';
import { oauthOf, type SlackSettings } from '../settings.ts';
import { clientOptions, codeOf, createWeb } from '../web/web.ts';
import type { Installation, Installations } from './installations.ts';
import { createStates, INVALID_STATE } from './oauth-state.ts';
import { type Page, pageHtml } from './page.ts';
import type { TokenEncryption } from './token-encryption.ts';

export interface OAuthFlowOptions {
  readonly settings: SlackSettings;
  readonly installations: Installations;
  readonly encryption: TokenEncryption;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly log: Log;
}

export type OAuthOptions = Pick<
  HTTPReceiverOptions,
  'clientId' | 'clientSecret' | 'scopes' | 'redirectUri' | 'installationStore' | 'installerOptions'
>;

/** Options for the library's installation flow: its two pages, the state, and what to do with the result. */
export function oauthOptions(parts: OAuthFlowOptions): OAuthOptions {
  const { settings, encryption, log } = parts;
  const { clientId = '', clientSecret = '' } = oauthOf(settings) ?? {};
  const scopes = SCOPES.map(([scope]) => scope);
  const redirectUri = `${settings.http.public_url}${REDIRECT_PATH}`;
  const options = { scopes, redirectUri };
  return {
    clientId,
    clientSecret,
    scopes,
    redirectUri,
    installationStore: {
      storeInstallation: async (installation) => await keep(parts, installation),
      // Only called by the library's own authorization, which is not used.
      fetchInstallation: async () => await Promise.reject(new Error('Installations are read by their own store.')),
    },
    installerOptions: {
      installPath: INSTALL_PATH,
      redirectUriPath: REDIRECT_PATH,
      stateStore: createStates({ ...parts, secret: encryption.secretFor('states'), options }),
      clientOptions: clientOptions({ settings, log }),
      ...authorizationUrl(settings),
      renderHtmlForInstallPath: (url) => pageHtml({ ...WELCOME, link: { label: 'Add to Slack', url } }),
      callbackOptions: {
        afterInstallation: async (...[installation, , , response]) => await mayStay(parts, installation, response),
        success: (...[installation, , , response]) => answer(response, 200, done(installation)),
        failure: (...[error, , , response]) => {
          const { status, page } = failure(log, error);
          answer(response, status, page);
        },
      },
    },
  };
}

const WELCOME = {
  title: 'Add Strata to your workspace',
  text: 'A chat bot that remembers, and shows what it remembers. Next, Slack asks for the workspace and the permissions of the bot.',
};

/** Next to the Web API, as on Slack itself. */
function authorizationUrl({ api_url: url }: SlackSettings): { readonly authorizationUrl?: string } {
  return url === '' ? {} : { authorizationUrl: new URL('../../oauth/v2/authorize', url).href };
}

async function keep({ installations, clock, log }: OAuthFlowOptions, from: BoltInstallation): Promise<void> {
  const installation = installationOf(from, clock.now());
  if (installation === null) throw new Error('Slack returned no bot token for a single workspace.');
  await installations.put(installation);
  log.info('The app was installed in a workspace', { team: installation.teamId });
}

/** Null if it is not a bot of one workspace. */
function installationOf({ team, bot }: BoltInstallation, installedAt: number): Installation | null {
  if (team === undefined || bot === undefined) return null;
  const { refreshToken, expiresAt } = bot;
  const renewal =
    refreshToken === undefined || expiresAt === undefined
      ? null
      : { refreshToken, issuedAt: installedAt, expiresAt: expiresAt * 1000 };
  const { id: botId, userId: botUserId, token } = bot;
  return { teamId: team.id, teamName: team.name ?? team.id, botUserId, botId, token, renewal, installedAt };
}

/** An installation that is not served is revoked at Slack, and the page explains why. */
async function mayStay(
  { settings, log }: OAuthFlowOptions,
  installation: BoltInstallation,
  response: ServerResponse<IncomingMessage>,
): Promise<boolean> {
  const refusal = refusalOf(settings, installation);
  if (refusal === null) return true;
  const token = installation.bot?.token;
  if (token !== undefined) {
    await createWeb(token, { settings, log })
      .auth.revoke()
      .catch((error: unknown) => {
        log.warn('The token of a refused installation could not be revoked', { cause: describe(error) });
      });
  }
  log.warn('An installation was refused', { team: installation.team?.id ?? null, reason: refusal });
  answer(response, 403, { title: 'The app was not installed', text: refusal });
  return false;
}

function refusalOf({ workspaces }: SlackSettings, { team, bot, isEnterpriseInstall }: BoltInstallation): string | null {
  if (isEnterpriseInstall || team === undefined) {
    return 'It can only be installed in single workspaces, not for a whole organization. Start again and choose one workspace.';
  }
  if (bot === undefined) return 'Slack returned no bot token. The operator has to create the app from its manifest.';
  return passes(workspaces, team.id) ? null : 'The operator does not serve this workspace.';
}

function done({ team }: BoltInstallation): Page {
  const text = `Strata is in ${team?.name ?? 'your workspace'} now. Write to it directly, or /invite it into a channel and mention it.`;
  const url = `https://app.slack.com/client/${encodeURIComponent(team?.id ?? '')}`;
  return { title: 'The app is installed', text, link: { label: 'Open Slack', url } };
}

const AGAIN = { label: 'Begin again', url: INSTALL_PATH };
const CANCELLED = 'slack_oauth_installer_authorization_error';
const STATES = new Set([INVALID_STATE, 'slack_oauth_missing_state', 'slack_oauth_missing_code']);

function failure(log: Log, error: Error & { readonly code: string }): { readonly status: number; readonly page: Page } {
  const title = 'The app was not installed';
  if (error.code === CANCELLED) {
    return { status: 400, page: { title, text: 'You cancelled the installation. Nothing was changed.', link: AGAIN } };
  }
  log.warn('An installation failed', { code: codeOf(error) ?? error.code, cause: describe(error) });
  if (STATES.has(error.code)) {
    const text = 'It was started in another browser or more than ten minutes ago, or it is already complete.';
    return { status: 400, page: { title, text, link: AGAIN } };
  }
  const text = 'Slack did not complete it; see the log of the bot for the reason.';
  return { status: 502, page: { title, text, link: AGAIN } };
}

function answer(response: ServerResponse<IncomingMessage>, status: number, page: Page): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  response.end(pageHtml(page));
}
