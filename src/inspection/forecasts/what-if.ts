import type { CommandServices } from '../../commands/services.ts';
import { isBuiltInEngine } from '../../config/known.ts';
import type { ConfigRow } from '../../config/rows.ts';
import type { AgentSettings } from '../../config/schema.ts';
import { settingLines } from '../../config/setting-lines.ts';
import { findConversation } from '../../conversation/find-conversation.ts';
import { isStrataError, StrataError } from '../../domain/errors.ts';
import type { Forecast } from '../../forecast/forecast.ts';
import { forecastFor } from '../../forecast/open.ts';
import { FORECAST_ROWS } from '../../forecast/rows.ts';
import {
  AUTO_SETTINGS,
  FORECAST_SETTINGS,
  type ForecastSetting,
  type ForecastValues,
  settingOf,
  settingValue,
  withValues,
} from '../../forecast/settings.ts';
import type { Thresholds } from '../../ports/engine.ts';
import type { Viewer } from '../viewer.ts';
import type { Recordings, Session } from './recordings.ts';

export interface WhatIfQuery {
  readonly viewer: Viewer;
  readonly key: string;
  /** What to try, by the name of a setting. Empty and unknown ones are ignored. */
  readonly values: Readonly<Record<string, string>>;
}

/** A conversation under other settings, beside the present ones. Figures only. */
export interface WhatIfView {
  readonly key: string;
  readonly agentId: string;
  readonly messages: number;
  /** Only the newest messages were simulated, because there are too many. */
  readonly isPartial: boolean;
  readonly settings: readonly TriedSetting[];
  /** Null if the engine of the agent has no forecast. */
  readonly present: Forecast | null;
  /** Null without a change, and if the values do not fit together. */
  readonly tried: Forecast | null;
  /** Why the values can't be tried. */
  readonly problem: string | null;
  readonly thresholds: Thresholds;
  readonly rows: readonly ComparedRow[];
  /** What to write into the configuration; null without a change, and for all but operators. */
  readonly lines: string | null;
}

/** A setting of the forecast: its present value, and what to try instead. */
export interface TriedSetting {
  readonly name: ForecastSetting;
  readonly present: string | number;
  /** As it was typed; null if it is the present one. */
  readonly tried: string | number | null;
  readonly canBeAuto: boolean;
}

export interface ComparedRow {
  readonly name: string;
  readonly present: string;
  readonly tried: string;
  /** How much more the tried settings take, as a share of the present amount; null if that says nothing. */
  readonly change: number | null;
}

interface WhatIfServices extends CommandServices {
  readonly recordings: Recordings;
  readonly configRows: () => readonly ConfigRow[];
}

const POINTS = 150;
const MAX_LENGTH = 40;

/** Calls no model. Throws `CONVERSATION_UNKNOWN`, and the errors of opening the model. */
export async function whatIfView(
  services: WhatIfServices,
  { viewer, key, values: given }: WhatIfQuery,
): Promise<WhatIfView> {
  const conversation = await findConversation(services, key);
  const isFresh = Object.keys(given).length === 0;
  const session = await services.recordings.of(conversation, { isFresh });
  const values = changedValues(session.agent, given);
  const { agent, problem } = tryValues(session.agent, values);
  const present = await presentOf(services, session);
  const tried = values.size === 0 || agent === null ? null : await play(services, session, agent);
  const { background_threshold: background, aggressive_threshold: aggressive } = (agent ?? session.agent).compaction;
  return {
    key: conversation.key,
    agentId: session.agent.id,
    present,
    tried,
    problem,
    messages: session.recording.entries.length,
    isPartial: session.isPartial,
    settings: settingsOf(session.agent, values),
    thresholds: { background, aggressive, emergency: (agent ?? session.agent).compaction.emergency_threshold },
    rows: rowsOf(present, tried),
    lines: viewer.role === 'operator' && tried !== null ? linesFor(services, session.agent, values) : null,
  };
}

/** What differs from the present settings. An empty value of a setting that can be "auto" means that. */
function changedValues(agent: AgentSettings, given: WhatIfQuery['values']): ForecastValues {
  const values = new Map<ForecastSetting, string | number>();
  for (const name of FORECAST_SETTINGS) {
    const text = Object.hasOwn(given, name) ? given[name]?.slice(0, MAX_LENGTH) : undefined;
    const present = settingOf(agent, name);
    if (text === undefined || (text.trim() === '' && !AUTO_SETTINGS.has(name))) continue;
    const value = text.trim() === '' ? 'auto' : settingValue(text);
    if (value !== present) values.set(name, value);
  }
  return values;
}

function tryValues(
  agent: AgentSettings,
  values: ForecastValues,
): { readonly agent: AgentSettings | null; readonly problem: string | null } {
  const refuse = (problem: string) => new StrataError('USAGE', { problem });
  try {
    return { agent: withValues(agent, values, { source: 'tried here', refuse }), problem: null };
  } catch (error) {
    if (!isStrataError(error, 'USAGE')) throw error;
    return { agent: null, problem: values.size === 0 ? null : error.message };
  }
}

const presents = new WeakMap<Session, Promise<Forecast | null>>();

/** Played once for each session. */
function presentOf(services: CommandServices, session: Session): Promise<Forecast | null> {
  const { engine } = session.agent;
  const present =
    presents.get(session) ?? (isBuiltInEngine(engine) ? play(services, session, session.agent) : Promise.resolve(null));
  presents.set(session, present);
  present.catch(() => presents.delete(session));
  return present;
}

async function play(services: CommandServices, session: Session, agent: AgentSettings): Promise<Forecast> {
  const { recording, profile } = session;
  return await forecastFor(services, { recording, agent, profile, points: POINTS });
}

function settingsOf(agent: AgentSettings, values: ForecastValues): readonly TriedSetting[] {
  return FORECAST_SETTINGS.map((name) => ({
    name,
    present: settingOf(agent, name),
    tried: values.get(name) ?? null,
    canBeAuto: AUTO_SETTINGS.has(name),
  }));
}

function rowsOf(present: Forecast | null, tried: Forecast | null): readonly ComparedRow[] {
  return FORECAST_ROWS.map(({ name, amountOf, textOf }) => {
    const [before, after] = [present, tried].map((forecast) => (forecast === null ? null : amountOf(forecast)));
    const isComparable = before !== null && before !== undefined && before > 0 && after !== null && after !== undefined;
    return {
      name,
      present: present === null ? '' : textOf(present),
      tried: tried === null ? '' : textOf(tried),
      change: isComparable ? after / before - 1 : null,
    };
  });
}

/** The exact lines; a configuration that cannot be read now has none. */
function linesFor({ configRows }: WhatIfServices, { id }: AgentSettings, values: ForecastValues): string | null {
  try {
    return settingLines(configRows(), { agentId: id, values });
  } catch (error) {
    if (error instanceof StrataError) return null;
    throw error;
  }
}
