import { z } from 'zod';
import {
  describe,
  type Finding,
  isStrataError,
  type Log,
  networkRemedy,
  type StateStore,
} from '../../../src/adapter-kit.ts';
import { receivedKinds } from './inbound/received-events.ts';
import { createInstallations, type Installation, type Installations, type Installed } from './install/installations.ts';
import { openTokenEncryption } from './install/token-encryption.ts';
import { EVENTS_PATH, INSTALL_PATH, SCOPES, wantedEvents } from './manifest.ts';
import { oauthOf, type SlackSettings } from './settings.ts';
import { codeOf, createWeb, outageOf } from './web/web.ts';
import { openWorkspace } from './web/workspace.ts';

export interface CheckOptions {
  readonly settings: SlackSettings;
  readonly log: Log;
  readonly state: StateStore;
}

/** Tokens, installations, scopes, events and the transport, for `strata doctor`. Changes nothing. */
export async function checkSlack(options: CheckOptions): Promise<readonly Finding[]> {
  const { settings, log } = options;
  const oauth = oauthOf(settings);
  const tokens = oauth === null ? await checkToken(options, settings.bot_token ?? '') : await checkMany(options, oauth);
  return [...tokens, await checkEvents(options), await checkTransport(settings, log)];
}

async function checkToken({ settings, log }: CheckOptions, token: string): Promise<readonly Finding[]> {
  const web = createWeb(token, { settings, log });
  try {
    const { teamId } = await openWorkspace(web, token);
    return [ok('token', `the bot token is valid for the workspace ${teamId}`), await checkScopes(web, 'scopes')];
  } catch (error) {
    if (isStrataError(error, 'PLATFORM_REFUSED')) return [fail('token', error.data.reason, error.data.remedy)];
    return [unreached('token', error)];
  }
}

type Keys = NonNullable<ReturnType<typeof oauthOf>>;

/** The app, and each workspace that installed it. */
async function checkMany(options: CheckOptions, keys: Keys): Promise<readonly Finding[]> {
  const installations = createInstallations(options.state, await openTokenEncryption(keys.installationKey));
  const installed = await installations.list();
  const address = `${options.settings.http.public_url}${INSTALL_PATH}`;
  const count = installed.length === 0 ? 'no workspace has installed the app yet' : `${installed.length} installed`;
  const each: Finding[] = [];
  for (const workspace of installed) each.push(...(await checkInstalled(options, installations, workspace)));
  return [await checkApp(options, keys), ok('installations', `${count}; it is installed at ${address}`), ...each];
}

/** Slack validates the app before the code, so an invalid code reveals whether the app's credentials are right. */
async function checkApp({ settings, log }: CheckOptions, { clientId, clientSecret }: Keys): Promise<Finding> {
  const request = { client_id: clientId, client_secret: clientSecret, code: 'none' };
  try {
    await createWeb(undefined, { settings, log }).oauth.v2.access(request);
  } catch (error) {
    const code = codeOf(error);
    if (code === null) return unreached('oauth', error);
    const hint = 'Copy Client ID and Client Secret from Basic Information, App Credentials.';
    if (code !== 'invalid_code') return fail('oauth', `client_id and client_secret were rejected (${code})`, hint);
  }
  const { public_url: url } = settings.http;
  if (url.startsWith('https:')) return ok('oauth', 'client_id and client_secret are accepted');
  const hint = 'Slack redirects people only to https: addresses.';
  return warn('oauth', `client_id and client_secret are accepted; public_url is ${url}`, hint);
}

async function checkInstalled(
  options: CheckOptions,
  installations: Installations,
  { teamId, teamName, isEnding }: Installed,
): Promise<readonly Finding[]> {
  const id = `workspace.${teamId}`;
  const name = teamName === teamId ? teamId : `${teamId} (${teamName})`;
  if (isEnding)
    return [
      warn(id, `${name} removed the app`, 'Its data is deleted after seven days, unless the app is installed again.'),
    ];
  try {
    const installation = await installations.find(teamId);
    return installation === null ? [] : await checkInstallation(options, installation, name);
  } catch (error) {
    return [fail(id, describe(error), 'installation_key must stay the same as when the app was installed.')];
  }
}

async function checkInstallation(
  { settings, log }: CheckOptions,
  { teamId, token }: Installation,
  name: string,
): Promise<readonly Finding[]> {
  const web = createWeb(token, { settings, log });
  try {
    await web.auth.test();
    return [ok(`workspace.${teamId}`, `${name}: the token is valid`), await checkScopes(web, `scopes.${teamId}`)];
  } catch (error) {
    const code = codeOf(error);
    if (code === 'token_expired') return [warn(`workspace.${teamId}`, `${name}: the token has expired`, RENEWED)];
    if (code === null) return [unreached(`workspace.${teamId}`, error)];
    const problem = `${name}: the token is invalid (${code})`;
    return [fail(`workspace.${teamId}`, problem, 'Reinstall the app there, or remove it there.')];
  }
}

const RENEWED = 'A running bot renews it with the next message.';

const scopesSchema = z.object({ response_metadata: z.object({ scopes: z.array(z.string()).nullish() }).nullish() });

/** Slack returns the granted scopes with every response. */
async function checkScopes(web: ReturnType<typeof createWeb>, id: string): Promise<Finding> {
  const granted = scopesSchema.parse(await web.auth.test()).response_metadata?.scopes ?? [];
  if (granted.length === 0) return warn(id, 'Slack did not return the granted scopes', REINSTALL);
  const missing = SCOPES.filter(([scope]) => !granted.includes(scope));
  if (missing.length === 0) return ok(id, `all ${SCOPES.length} scopes are granted`);
  return fail(id, `missing: ${missing.map(([scope, use]) => `${scope} (${use})`).join(', ')}`, REINSTALL);
}

function unreached(id: string, error: unknown): Finding {
  const cause = outageOf(error);
  return fail(id, `Slack cannot be reached: ${cause}`, `${networkRemedy(cause) ?? NETWORK}.`);
}

const NETWORK = 'Check the network, and api_url if it is set';

const REINSTALL =
  'Put the manifest of `strata slack manifest` into the settings of the app and install it to the workspace again.';

/** No bot token can read the app's subscriptions, so the events received so far are the evidence. */
async function checkEvents({ settings, state }: CheckOptions): Promise<Finding> {
  const seen = await receivedKinds(state);
  const came = wantedEvents(settings).filter((kind) => seen.has(kind));
  if (came.length === 0)
    return ok('events', 'no events received yet; Slack does not tell a bot which events its app subscribes to');
  const missing = wantedEvents(settings).filter((kind) => !seen.has(kind));
  const places = ['message.channels', 'message.groups', 'message.mpim'];
  if (seen.has('app_mention') && !places.some((kind) => seen.has(kind)))
    return warn('events', `mentions arrive, but no other messages of channels: ${places.join(', ')}`, REINSTALL);
  return ok('events', `received so far: ${came.join(', ')}; not yet: ${missing.join(', ') || 'none'}`);
}

async function checkTransport(settings: SlackSettings, log: Log): Promise<Finding> {
  if (settings.transport === 'http') {
    const { host, port, public_url: url } = settings.http;
    const address = `${url === '' ? 'https://YOUR.SERVER' : url}${EVENTS_PATH}`;
    return url === ''
      ? warn(
          'http',
          `listens on ${host}:${port}; http.public_url is empty`,
          `Set it, so that the manifest contains ${address}.`,
        )
      : ok('http', `listens on ${host}:${port}; Slack has to reach it at ${address}`);
  }
  try {
    // Opens no connection: Slack only returns a URL for one.
    await createWeb(settings.app_token, { settings, log }).apps.connections.open({});
    return ok('socket', 'the app token can open a socket');
  } catch (error) {
    const code = codeOf(error);
    if (code === null) return unreached('socket', error);
    return fail(
      'socket',
      `the app token was rejected (${code})`,
      'Create an app-level token (xapp-) with connections:write, set app_token, and enable Socket Mode.',
    );
  }
}

function ok(id: string, message: string): Finding {
  return { checkId: id, severity: 'ok', message, fixHint: null };
}

function warn(id: string, message: string, fixHint: string): Finding {
  return { checkId: id, severity: 'warn', message, fixHint };
}

function fail(id: string, message: string, fixHint: string): Finding {
  return { checkId: id, severity: 'fail', message, fixHint };
}
