import { createWeb, type WebOptions } from '../web/web.ts';
import type { Workspace } from '../web/workspace.ts';
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
  const web = createWeb(() => token, webOptions);
  return {
    workspace: {
      web,
      teamId,
      userId: botUserId,
      botId,
      secret,
      get token() {
        return token;
      },
    },
    use(next) {
      token = next;
    },
  };
}
