import type { StrataError } from '../../../../src/adapter-kit.ts';
import type { SlackBot } from '../bot.ts';
import type { Ending } from '../inbound/leaving.ts';
import { findRefusal } from '../web/workspace.ts';
import type { Departures } from './departures.ts';

/** The bots of the served workspaces: one with its token, or all that installed the app. */
export interface Roster {
  /** Null if the workspace is not served. Throws `SECRET_UNREADABLE`. */
  of(teamId: string): Promise<SlackBot | null>;
  /** The bot if it is already running. */
  running(teamId: string): SlackBot | null;
  /** Throws `SECRET_UNREADABLE` if there are some and none can be read. */
  all(): Promise<readonly SlackBot[]>;
  /**
   * Slack reports that the app was removed or its token revoked. Checks whether the token works; if it does, nothing
   * happens. Otherwise marks the workspace: its data is deleted after the grace period. Resolves when the mark is
   * durable.
   */
  ended(teamId: string, ending: Ending): Promise<void>;
  /** Why the app cannot do anything any more; null while it can, or while Slack does not respond. */
  refusal(): Promise<StrataError | null>;
  /** Finds installations that ended while the bot was offline, and deletes what is due. */
  tidy(): Promise<void>;
  /** Waits for running work. Intake must have ended; owed posts may still be sent. */
  stop(): Promise<void>;
}

/** One workspace, for the lifetime of the process. */
export function createSoleRoster(bot: SlackBot, departures: Departures): Roster {
  const { teamId, userId } = bot.workspace;
  return {
    of: async () => bot,
    running: () => bot,
    all: async () => [bot],
    async ended(ofTeamId, { revoked }) {
      if (ofTeamId !== teamId || !(revoked?.includes(userId) ?? true)) return;
      if ((await findRefusal(bot.workspace)) !== null) await departures.mark(teamId, null);
    },
    refusal: () => findRefusal(bot.workspace),
    // The token works, so the app is installed here; data of other workspaces may be due.
    async tidy() {
      const standing = async (other: string) => (other === teamId ? 'back' : 'gone');
      await departures.settle({ standing, deleted: async () => undefined });
    },
    stop: () => bot.stop(),
  };
}
