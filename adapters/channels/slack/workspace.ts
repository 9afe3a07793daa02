import { createHash } from 'node:crypto';
import { z } from 'zod';
import { StrataError } from '../../../src/adapter-kit.ts';
import { codeOf, isOfToken, type Web } from './web.ts';

/** The bot in one workspace. */
export interface Workspace {
  readonly web: Web;
  readonly teamId: string;
  readonly userId: string;
  readonly botId: string;
  readonly token: string;
  /** Known only to this bot; signs its buttons. */
  readonly secret: string;
}

const authSchema = z.object({ team_id: z.string(), user_id: z.string(), bot_id: z.string().default('') });

/** Asks Slack whose token it is. Throws `PLATFORM_REFUSED` if it is invalid. */
export async function openWorkspace(web: Web, token: string): Promise<Workspace> {
  try {
    const { team_id: teamId, user_id: userId, bot_id: botId } = authSchema.parse(await web.auth.test());
    return { web, teamId, userId, botId, token, secret: secretOf(token) };
  } catch (error) {
    throw refusalBy(error) ?? error;
  }
}

/** Checks whether the token is still valid. Null if it is, or while Slack does not respond. */
export async function findRefusal({ web }: Pick<Workspace, 'web'>): Promise<StrataError | null> {
  try {
    await web.auth.test();
    return null;
  } catch (error) {
    return refusalBy(error);
  }
}

function refusalBy(error: unknown): StrataError | null {
  const code = codeOf(error);
  if (!isOfToken(error)) return null;
  const reason = `the bot token is invalid (${code})`;
  return new StrataError('PLATFORM_REFUSED', { platform: 'Slack', reason, remedy: BOT_TOKEN_REMEDY }, { cause: error });
}

export const BOT_TOKEN_REMEDY = 'Install the app and copy the Bot User OAuth Token (xoxb-) into bot_token';

function secretOf(token: string): string {
  return createHash('sha256').update(`buttons ${token}`).digest('hex');
}
