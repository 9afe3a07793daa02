import type { StrataError } from '../../../../src/adapter-kit.ts';
import type { SlackBot } from '../bot.ts';
import type { Ending } from '../inbound/leaving.ts';
import { findRefusal } from '../workspace.ts';

/** The bots of the workspaces that are served: one by its token, or all that installed the app. */
export interface Roster {
  /** Null where nobody serves the workspace. Throws `SECRET_UNREADABLE`. */
  of(teamId: string): Promise<SlackBot | null>;
  /** The one that runs already. */
  running(teamId: string): SlackBot | null;
  /** Throws `SECRET_UNREADABLE` when there are some and none can be read. */
  all(): Promise<readonly SlackBot[]>;
  /** Resolves when nothing of the workspace is left. */
  ended(teamId: string, ending: Ending): Promise<void>;
  /** Why the app can do nothing any more; null while it can, and while Slack does not tell. */
  refusal(): Promise<StrataError | null>;
  /** Makes up for what ended while nobody listened. */
  tidy(): Promise<void>;
  /** Lets what runs end. Nothing new may come in by then; what is owed may still be posted. */
  stop(): Promise<void>;
}

/** One workspace, for as long as the process lives. */
export function createSoleRoster(bot: SlackBot, forget: (teamId: string) => Promise<void>): Roster {
  const { teamId, userId } = bot.workspace;
  return {
    of: async () => bot,
    running: () => bot,
    all: async () => [bot],
    async ended(ofTeamId, { revoked }) {
      if (ofTeamId === teamId && (revoked?.includes(userId) ?? true)) await forget(teamId);
    },
    refusal: () => findRefusal(bot.workspace),
    tidy: async () => undefined,
    stop: () => bot.stop(),
  };
}
