import type { webApi } from '@slack/bolt';
import { clientOptions, Web, type WebOptions } from '../web.ts';
import type { Workspace } from '../workspace.ts';
import type { Installation } from './installations.ts';

export interface InstalledWorkspace {
  readonly workspace: Workspace;
  /** Uses this token for every call from now on. */
  use(token: string): void;
}

export interface InstalledOptions extends WebOptions {
  readonly secret: string;
}

/** A workspace that installed the app. Its token may change while the bot runs. */
export function installedWorkspace(
  { teamId, botUserId, botId, token: first }: Installation,
  { secret, ...webOptions }: InstalledOptions,
): InstalledWorkspace {
  let token = first;
  const options = clientOptions(webOptions);
  const withToken: webApi.FetchFunction = (url, request) =>
    options.fetch(url, { ...request, headers: { ...request?.headers, Authorization: `Bearer ${token}` } });
  const web = new Web(undefined, { ...options, fetch: withToken });
  return {
    workspace: {
      ...{ web, teamId, userId: botUserId, botId, secret },
      get token() {
        return token;
      },
    },
    use(next) {
      token = next;
    },
  };
}
