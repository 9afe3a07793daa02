import { z } from 'zod';
import { describe, type Finding, type Log } from '../../../src/index.ts';
import { SCOPES } from './manifest.ts';
import type { SlackSettings } from './settings.ts';
import { codeOf, createWeb } from './web.ts';
import { BOT_TOKEN_REMEDY, openWorkspace } from './workspace.ts';

/** Tokens, rights and the socket, for `strata doctor`. Changes nothing. */
export async function checkSlack(settings: SlackSettings, log: Log): Promise<readonly Finding[]> {
  const token = await checkToken(settings, log);
  return [...token, await checkTransport(settings, log)];
}

async function checkToken(settings: SlackSettings, log: Log): Promise<readonly Finding[]> {
  const web = createWeb(settings.bot_token, settings, log);
  try {
    const { teamId } = await openWorkspace(web, settings.bot_token);
    return [ok('token', `the bot token is valid for the workspace ${teamId}`), await checkScopes(web)];
  } catch (error) {
    return [fail('token', describe(error), BOT_TOKEN_REMEDY)];
  }
}

const scopesSchema = z.object({ response_metadata: z.object({ scopes: z.array(z.string()).nullish() }).nullish() });

/** Slack tells the granted rights beside every answer. */
async function checkScopes(web: ReturnType<typeof createWeb>): Promise<Finding> {
  const granted = scopesSchema.parse(await web.auth.test()).response_metadata?.scopes ?? [];
  if (granted.length === 0) return warn('scopes', 'Slack did not tell which rights are granted', REINSTALL);
  const missing = SCOPES.filter(([scope]) => !granted.includes(scope));
  if (missing.length === 0) return ok('scopes', `all ${SCOPES.length} rights are granted`);
  return fail('scopes', `missing: ${missing.map(([scope, use]) => `${scope} (${use})`).join(', ')}`, REINSTALL);
}

const REINSTALL =
  'Put the manifest of `strata slack manifest` into the settings of the app and install it to the workspace again.';

async function checkTransport(settings: SlackSettings, log: Log): Promise<Finding> {
  if (settings.transport === 'http') {
    const { host, port, public_url: url } = settings.http;
    const address = `${url === '' ? 'https://YOUR.SERVER' : url}/slack/events`;
    return url === ''
      ? warn(
          'http',
          `listens on ${host}:${port}; http.public_url is empty`,
          `Set it, so that the manifest names ${address}.`,
        )
      : ok('http', `listens on ${host}:${port}; Slack has to reach it at ${address}`);
  }
  try {
    // Opens no connection: Slack only hands out an address that would be good for one.
    await createWeb(settings.app_token, settings, log).apps.connections.open({});
    return ok('socket', 'the app token opens a socket');
  } catch (error) {
    const code = codeOf(error);
    return fail(
      'socket',
      code === null ? `Slack cannot be asked: ${describe(error)}` : `the app token is refused (${code})`,
      'Make an app-level token (xapp-) with connections:write, set app_token, and switch on Socket Mode.',
    );
  }
}

function ok(id: string, message: string): Finding {
  return { checkId: `slack.${id}`, severity: 'ok', message, fixHint: null };
}

function warn(id: string, message: string, fixHint: string): Finding {
  return { checkId: `slack.${id}`, severity: 'warn', message, fixHint };
}

function fail(id: string, message: string, fixHint: string): Finding {
  return { checkId: `slack.${id}`, severity: 'fail', message, fixHint };
}
