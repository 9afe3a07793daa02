import { describe, type Log } from '../../../src/index.ts';
import { passes } from './access.ts';
import type { SlackBot } from './bot.ts';
import type { Installation, Installations } from './installations.ts';
import type { Roster } from './roster.ts';
import type { SlackSettings } from './settings.ts';
import { codeOf } from './web.ts';
import { type InstalledWorkspace, installedWorkspace, type Workspace } from './workspace.ts';

export interface InstalledParts {
  readonly settings: SlackSettings;
  readonly installations: Installations;
  readonly log: Log;
  readonly signal: AbortSignal;
  open(workspace: Workspace): SlackBot;
  renew(installation: Installation): Promise<Installation>;
  secretFor(teamId: string): string;
  /** Deletes everything that is kept of a workspace. */
  forget(teamId: string): Promise<void>;
}

interface Member extends InstalledWorkspace {
  readonly bot: SlackBot;
}

/**
 * A bot for each workspace that installed the app, made when it is first needed. The store is asked each time: another
 * gateway may have installed, renewed or removed the app since.
 */
export function createInstalledRoster(parts: InstalledParts): Roster {
  const { installations, log, signal } = parts;
  const members = new Map<string, Member>();
  const leaving = new Set<Promise<void>>();
  const dismiss = (teamId: string): void => {
    const stopped = members.get(teamId)?.bot.stop();
    members.delete(teamId);
    if (stopped === undefined) return;
    leaving.add(stopped);
    stopped.finally(() => leaving.delete(stopped)).catch(() => undefined);
  };
  const of = async (teamId: string): Promise<SlackBot | null> => {
    const found = passes(parts.settings.workspaces, teamId) ? await installations.find(teamId) : null;
    if (found === null) {
      dismiss(teamId);
      return null;
    }
    const installation = await parts.renew(found);
    const member = members.get(teamId);
    if (member !== undefined && isSame(member, installation)) {
      member.use(installation.token);
      return member.bot;
    }
    dismiss(teamId);
    const made = createMember(parts, installation);
    members.set(teamId, made);
    return made.bot;
  };
  const leave = async (teamId: string): Promise<void> => {
    await installations.end(teamId);
    dismiss(teamId);
    await Promise.all(leaving);
    await parts.forget(teamId);
    await installations.remove(teamId);
  };
  const all = () => readAll(parts, of);
  return {
    of,
    running: (teamId) => members.get(teamId)?.bot ?? null,
    all,
    async ended(teamId, { revoked, at }) {
      const known = (await installations.list()).find((installed) => installed.teamId === teamId);
      if (known === undefined || (revoked !== null && !revoked.includes(known.botUserId))) return;
      if (!known.isEnding && at !== null && at + 1000 < known.installedAt) {
        log.info('A workspace has installed the app anew since it was removed', { team: teamId });
        return;
      }
      await leave(teamId);
    },
    async tidy() {
      for (const { teamId, isEnding } of await installations.list()) {
        if (signal.aborted) return;
        try {
          if (isEnding || (await isGone(await of(teamId)))) await leave(teamId);
        } catch (error) {
          log.warn('A workspace could not be looked at', { team: teamId, cause: describe(error) });
        }
      }
    },
    async stop() {
      for (const teamId of [...members.keys()]) dismiss(teamId);
      await Promise.all(leaving);
    },
  };
}

/** The same bot, with a token that may be newer. */
function isSame({ workspace }: Member, { botId, botUserId }: Installation): boolean {
  return workspace.botId === botId && workspace.userId === botUserId;
}

function createMember(parts: InstalledParts, installation: Installation): Member {
  const { settings, log } = parts;
  const secret = parts.secretFor(installation.teamId);
  const installed = installedWorkspace(installation, { settings, log, secret });
  return { ...installed, bot: parts.open(installed.workspace) };
}

/** Those that cannot be read are told and passed over, unless there is no other: then the key is the wrong one. */
async function readAll({ installations, log }: InstalledParts, of: Roster['of']): Promise<readonly SlackBot[]> {
  const bots: SlackBot[] = [];
  const failures: unknown[] = [];
  for (const { teamId, isEnding } of await installations.list()) {
    if (isEnding) continue;
    try {
      const bot = await of(teamId);
      if (bot !== null) bots.push(bot);
    } catch (error) {
      failures.push(error);
      log.error('A workspace is not served', { team: teamId, cause: describe(error) });
    }
  }
  if (bots.length === 0 && failures.length > 0) throw failures[0];
  return bots;
}

/** What Slack says of a bot whose app was removed: that it was may have been told while nobody listened. */
const GONE = new Set(['account_inactive', 'token_revoked']);

async function isGone(bot: SlackBot | null): Promise<boolean> {
  try {
    await bot?.workspace.web.auth.test();
    return false;
  } catch (error) {
    if (GONE.has(codeOf(error) ?? '')) return true;
    throw error;
  }
}
