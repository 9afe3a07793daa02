import { createLanes, describe, type Log } from '../../../../src/adapter-kit.ts';
import { passes } from '../../shared/access-list.ts';
import type { SlackBot } from '../bot.ts';
import type { SlackSettings } from '../settings.ts';
import { codeOf } from '../web/web.ts';
import type { Workspace } from '../web/workspace.ts';
import type { Departures } from './departures.ts';
import type { Installation, Installations, Installed } from './installations.ts';
import { type InstalledWorkspace, installedWorkspace } from './installed-workspace.ts';
import type { Roster } from './roster.ts';

export interface InstalledOptions {
  readonly settings: SlackSettings;
  readonly installations: Installations;
  readonly log: Log;
  readonly signal: AbortSignal;
  open(workspace: Workspace): SlackBot;
  renew(installation: Installation): Promise<Installation>;
  secretFor(teamId: string): string;
  readonly departures: Departures;
}

interface Member extends InstalledWorkspace {
  readonly bot: SlackBot;
}

/** The bots of all workspaces that installed the app. */
export function createInstalledRoster(options: InstalledOptions): Roster {
  const { installations, departures, log, signal } = options;
  const members = createMembers(options);
  const { of, running } = members;
  const removals = createRemovals(options, members);
  return {
    of,
    running,
    all: () => readAll(options, of),
    ended: removals.reported,
    // The others continue, and new ones may come.
    refusal: async () => null,
    async tidy() {
      for (const installed of await installations.list()) {
        if (signal.aborted) return;
        try {
          await removals.look(installed);
        } catch (error) {
          log.warn('A workspace could not be checked', { team: installed.teamId, cause: describe(error) });
        }
      }
      await departures.settle({
        async standing(teamId, installedAt) {
          const known = await findListed(installations, teamId);
          if (known?.isEnding === false) return 'back';
          return known === null || known.installedAt === installedAt ? 'gone' : 'reinstalled';
        },
        deleted: installations.remove,
      });
    },
    stop: members.stopAll,
  };
}

interface Removals {
  /** Slack has reported the removal. */
  readonly reported: Roster['ended'];
  /** Checks for a removal whose event was missed. */
  look(installed: Installed): Promise<void>;
}

/**
 * Slack reports one removal in several events, to any gateway, and the hourly check may find it too. Only the one that
 * ends the installation starts the grace period. In one process they wait for each other, so that the later ones ask
 * nothing.
 */
function createRemovals(options: InstalledOptions, members: Members): Removals {
  const { installations, departures, log } = options;
  const lanes = createLanes();
  /** The one that was asked about: the app may have been installed again since. */
  const leave = async (gone: Installation): Promise<void> => {
    const { teamId, installedAt } = gone;
    if (await installations.end(gone)) await departures.mark(teamId, installedAt);
    if ((await installations.find(teamId)) !== null) return;
    members.dismiss(teamId);
    await members.drained();
  };
  return {
    reported: (teamId, { revoked }) =>
      lanes.run([teamId], async () => {
        const known = await findListed(installations, teamId);
        if (known === null || known.isEnding || (revoked !== null && !revoked.includes(known.botUserId))) return;
        const gone = await findGone(options, teamId);
        if (gone !== null) return await leave(gone);
        log.info('Slack reported a removal, but the token still works', { team: teamId });
      }),
    look: ({ teamId, installedAt, isEnding }) =>
      lanes.run([teamId], async () => {
        const gone = isEnding ? null : await findGone(options, teamId);
        // The process that ended it may have stopped before the mark.
        if (isEnding) await departures.mark(teamId, installedAt);
        else if (gone !== null) await leave(gone);
      }),
  };
}

async function findListed(installations: Installations, teamId: string): Promise<Installed | null> {
  return (await installations.list()).find((installed) => installed.teamId === teamId) ?? null;
}

interface Members extends Pick<Roster, 'of' | 'running'> {
  dismiss(teamId: string): void;
  /** Resolves when the dismissed bots have ended. */
  drained(): Promise<void>;
  /** They stay for the remaining posts. */
  stopAll(): Promise<void>;
}

/**
 * A bot for each workspace, created on first use. The store is read each time, because another gateway may have
 * installed, renewed or removed the app.
 */
function createMembers(options: InstalledOptions): Members {
  const members = new Map<string, Member>();
  const leaving = new Set<Promise<void>>();
  const dismiss = (teamId: string): void => {
    const stopped = members.get(teamId)?.bot.stop();
    members.delete(teamId);
    if (stopped === undefined) return;
    leaving.add(stopped);
    stopped.finally(() => leaving.delete(stopped)).catch(() => undefined);
  };
  return {
    async of(teamId) {
      const isWanted = passes(options.settings.workspaces, teamId);
      const found = isWanted ? await options.installations.find(teamId) : null;
      const installation = found === null ? null : await options.renew(found);
      const member = members.get(teamId);
      if (installation !== null && member !== undefined && isSame(member, installation)) {
        member.use(installation.token);
        return member.bot;
      }
      dismiss(teamId);
      if (installation === null) return null;
      const made = createMember(options, installation);
      members.set(teamId, made);
      return made.bot;
    },
    running: (teamId) => members.get(teamId)?.bot ?? null,
    dismiss,
    async drained() {
      await Promise.all(leaving);
    },
    async stopAll() {
      await Promise.all([...leaving, ...[...members.values()].map(({ bot }) => bot.stop())]);
    },
  };
}

/** The same bot, possibly with a newer token. */
function isSame({ workspace }: Member, { botId, botUserId }: Installation): boolean {
  return workspace.botId === botId && workspace.userId === botUserId;
}

function createMember(options: InstalledOptions, installation: Installation): Member {
  const secret = options.secretFor(installation.teamId);
  const installed = installedWorkspace(installation, { ...options, secret });
  return { ...installed, bot: options.open(installed.workspace) };
}

/** Reports and skips unreadable installations, unless all are unreadable: then the key is wrong. */
async function readAll({ installations, log }: InstalledOptions, of: Roster['of']): Promise<readonly SlackBot[]> {
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

/** Slack's error for a bot whose app was removed. The event for it may have been missed. */
const GONE = new Set(['account_inactive', 'token_revoked']);

/**
 * The installation if Slack refuses its token. Null if the token works or the installation has ended. Also for a
 * workspace that the settings exclude. Throws if Slack does not respond.
 */
async function findGone(options: InstalledOptions, teamId: string): Promise<Installation | null> {
  const found = await options.installations.find(teamId);
  if (found === null) return null;
  const asked = await options.renew(found);
  const { workspace } = installedWorkspace(asked, { ...options, secret: '' });
  try {
    await workspace.web.auth.test();
    return null;
  } catch (error) {
    if (GONE.has(codeOf(error) ?? '')) return asked;
    throw error;
  }
}
