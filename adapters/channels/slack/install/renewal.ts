import { z } from 'zod';
import { type Clock, describe, HOUR_MS, type Log } from '../../../../src/adapter-kit.ts';
import { elapsedMs } from '../../shared/elapsed.ts';
import { oauthOf, type SlackSettings } from '../settings.ts';
import { createWeb } from '../web/web.ts';
import type { Installation, Installations, Renewal } from './installations.ts';

/** Tokens with less time left are renewed. Slack issues them for twelve hours. */
const AHEAD_MS = 2 * HOUR_MS;
/** After a failure the old token stays in use; the renewal is retried no sooner than this. */
const PAUSE_MS = 60_000;

export interface RenewalOptions {
  readonly settings: SlackSettings;
  readonly installations: Installations;
  readonly clock: Clock;
  readonly log: Log;
}

/** Renews tokens that expire soon, for apps with token rotation. */
export function createRenewal(options: RenewalOptions): (installation: Installation) => Promise<Installation> {
  const running = new Map<string, { readonly renewed: Promise<Installation>; readonly at: number }>();
  return async (installation) => {
    const now = options.clock.now();
    if (installation.renewal === null || isFresh(installation.renewal, now)) return installation;
    const last = running.get(installation.teamId);
    if (last !== undefined && elapsedMs(options.clock, last.at) < PAUSE_MS) return await last.renewed;
    const renewed = renew(options, installation, installation.renewal.refreshToken);
    running.set(installation.teamId, { renewed, at: now });
    return await renewed;
  };
}

/** If the clock was set back since, the token expires earlier than the stored time says. */
function isFresh({ issuedAt, expiresAt }: Renewal, now: number): boolean {
  return issuedAt <= now && expiresAt - now > AHEAD_MS;
}

const renewedSchema = z.object({ access_token: z.string(), refresh_token: z.string(), expires_in: z.number() });

async function renew(
  { settings, installations, clock, log }: RenewalOptions,
  installation: Installation,
  refreshToken: string,
): Promise<Installation> {
  const oauth = oauthOf(settings);
  try {
    const answer = await createWeb(undefined, { settings, log }).oauth.v2.access({
      client_id: oauth?.clientId ?? '',
      client_secret: oauth?.clientSecret ?? '',
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
    });
    const { access_token: token, refresh_token: next, expires_in: seconds } = renewedSchema.parse(answer);
    const issuedAt = clock.now();
    const renewal = { refreshToken: next, issuedAt, expiresAt: issuedAt + seconds * 1000 };
    const renewed = { ...installation, token, renewal };
    if (await installations.renew(installation, renewed)) return renewed;
    return (await installations.find(installation.teamId)) ?? renewed;
  } catch (error) {
    // Another gateway may have been first: a refresh token works only once.
    const stored = await installations.find(installation.teamId);
    if (stored !== null && stored.token !== installation.token) return stored;
    log.warn('A token could not be renewed', { team: installation.teamId, cause: describe(error) });
    return installation;
  }
}
