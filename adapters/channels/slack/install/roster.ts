import type { StrataError } from '../../../../src/adapter-kit.ts';
import type { SlackBot } from '../bot.ts';
import type { Ending } from '../inbound/leaving.ts';
import { findRefusal } from '../workspace.ts';
import type { Departures } from './departures.ts';

/** The bots of the workspaces that are served: one by its token, or all that installed the app. */
export interface Roster {
  /** Null where nobody serves the workspace. Throws `SECRET_UNREADABLE`. */
  of(teamId: string): Promise<SlackBot | null>;
  /** The one that runs already. */
  running(teamId: string): SlackBot | null;
  /** Throws `SECRET_UNREADABLE` when there are some and none can be read. */
  all(): Promise<readonly SlackBot[]>;
  /**
   * Slack says that the app was removed or its token revoked. Asks Slack whether the token works; if it does, nothing
   * happens. Else marks the workspace: its data is deleted after the period of grace. Resolves when the mark is durable.
   */
  ended(teamId: string, ending: Ending): Promise<void>;
  /** Why the app can do nothing any more; null while it can, and while Slack does not tell. */
  refusal(): Promise<StrataError | null>;
  /** Finds what ended while nobody listened, and deletes what is due. */
  tidy(): Promise<void>;
  /** Lets what runs end. Nothing new may come in by then; what is owed may still be posted. */
  stop(): Promise<void>;
}

/** One workspace, for as long as the process lives. */
export function createSoleRoster(bot: SlackBot, departures: Departures): Roster {
  const { teamId, userId } = bot.workspace;
  return {
    of: async () => bot,
    running: () => bot,
    all: async () => [bot],
    async ended(ofTeamId, { revoked }) {
      if (ofTeamId !== teamId || !(revoked?.includes(userId) ?? true)) return;
      if ((await findRefusal(bot.workspace)) !== null) await departures.mark(teamId);
    },
    refusal: () => findRefusal(bot.workspace),
    // The token works, so the app is installed here; data of another workspace is due some day.
    tidy: () => departures.settle({ isBack: async (other) => other === teamId, deleted: async () => undefined }),
    stop: () => bot.stop(),
  };
}
