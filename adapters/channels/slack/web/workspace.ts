import { z } from 'zod';
import { type Clock, type Log, StrataError } from '../../../../src/adapter-kit.ts';
import { buttonSecretOf } from '../../shared/hashes.ts';
import { unlessAborted } from '../../shared/within.ts';
import { codeOf, isFinal, isOfToken, outageOf, reachingPauseMs, type Web } from './web.ts';

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

/** With an empty or absurd id, the bot would know neither its mentions nor its own messages. */
const id = z.string().regex(/^[\w-]{1,64}$/);
const authSchema = z.object({
  team_id: id,
  user_id: id,
  bot_id: id.catch(''),
  is_enterprise_install: z.boolean().nullish().catch(null),
});

/** Asks Slack whose token it is. Throws `PLATFORM_REFUSED` if it is invalid, or not of a single workspace. */
export async function openWorkspace(web: Web, token: string): Promise<Workspace> {
  try {
    const known = authSchema.safeParse(await web.auth.test()).data;
    if (known === undefined) throw new Error('Slack does not say whose token it is');
    const { team_id: teamId, user_id: userId, bot_id: botId, is_enterprise_install: isOfOrganization } = known;
    if (isOfOrganization === true) throw new StrataError('PLATFORM_REFUSED', OF_ORGANIZATION);
    return { web, teamId, userId, botId, token, secret: buttonSecretOf(token) };
  } catch (error) {
    throw refusalBy(error) ?? error;
  }
}

/** Its events are of other workspaces than the token, so the bot would hear nothing. */
const OF_ORGANIZATION = {
  platform: 'Slack',
  reason: 'the bot token is of an installation for a whole organization',
  remedy:
    'Install the app in one workspace and copy the Bot User OAuth Token (xoxb-) of that installation into bot_token',
};

interface Reaching {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
}

/** Retries what opens a workspace until Slack can be reached. */
export async function whenReached(
  { clock, log, signal }: Reaching,
  open: () => Promise<Workspace>,
): Promise<Workspace> {
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      return await unlessAborted(signal, open());
    } catch (error) {
      if (error instanceof StrataError || isFinal(error)) throw error;
      const pauseMs = reachingPauseMs(error, attempt);
      log.warn('Slack cannot be reached; trying again', { cause: outageOf(error), inMs: pauseMs });
      await clock.sleep(pauseMs, { signal });
    }
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

const BOT_TOKEN_REMEDY = 'Install the app and copy the Bot User OAuth Token (xoxb-) into bot_token';
