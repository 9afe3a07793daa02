import { z } from 'zod';
import { StrataError } from '../../../src/index.ts';
import { codeOf, type Web } from './web.ts';

/** The bot as one workspace knows it. */
export interface Workspace {
  readonly web: Web;
  readonly teamId: string;
  readonly userId: string;
  readonly botId: string;
  readonly token: string;
}

const authSchema = z.object({ team_id: z.string(), user_id: z.string(), bot_id: z.string().default('') });

const REFUSED = new Set(['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired']);

/** Asks Slack whose token it is. Throws `PLATFORM_REFUSED` for one that is not valid. */
export async function openWorkspace(web: Web, token: string): Promise<Workspace> {
  try {
    const { team_id: teamId, user_id: userId, bot_id: botId } = authSchema.parse(await web.auth.test());
    return { web, teamId, userId, botId, token };
  } catch (error) {
    const code = codeOf(error);
    if (code === null || !REFUSED.has(code)) throw error;
    const reason = `the bot token is not valid (${code})`;
    throw new StrataError(
      'PLATFORM_REFUSED',
      { platform: 'Slack', reason, remedy: BOT_TOKEN_REMEDY },
      { cause: error },
    );
  }
}

export const BOT_TOKEN_REMEDY = 'Install the app and copy the Bot User OAuth Token (xoxb-) into bot_token';
