import type { Clock, Log, StateStore, StrataError } from '../../../src/adapter-kit.ts';
import type { SlackSettings } from './settings.ts';

export interface SlackOptions {
  readonly settings: SlackSettings;
  readonly log: Log;
  /** Keeps installations, drafts, greetings, and where threads began. */
  readonly state: StateStore;
  readonly clock: Clock;
  /** Fetches files, and answers commands. */
  readonly fetch: typeof globalThis.fetch;
  /** Told when Slack has refused the running app for good. Default: it is only logged. */
  readonly onRefused?: (error: StrataError) => void;
}
