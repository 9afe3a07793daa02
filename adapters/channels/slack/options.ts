import type { Clock, Log, StateStore, StrataError } from '../../../src/adapter-kit.ts';
import type { SlackSettings } from './settings.ts';

export interface SlackOptions {
  readonly settings: SlackSettings;
  readonly log: Log;
  /** Stores installations, drafts, greetings, and where threads began. */
  readonly state: StateStore;
  readonly clock: Clock;
  /** Fetches files, and answers commands. */
  readonly fetch: typeof globalThis.fetch;
  /** Called when Slack has permanently refused the running app. Default: only logged. */
  readonly onRefused?: (error: StrataError) => void;
}
