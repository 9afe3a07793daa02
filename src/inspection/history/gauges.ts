import type { CommandServices } from '../../commands/services.ts';
import type { ContextReport } from '../../context/inspection.ts';
import { describe, StrataError } from '../../domain/errors.ts';
import type { Measurement, Thresholds } from '../../ports/engine.ts';
import type { Conversation } from '../../ports/store.ts';
import { createRecentMap } from '../../util/recent-map.ts';

/** How full the view of a conversation is. */
export interface Gauge {
  readonly agentId: string;
  readonly modelId: string;
  readonly measurement: Measurement;
  readonly thresholds: Thresholds;
}

/** A gauge, or why there is none: the agent's model may be unknown or unavailable. */
export type GaugeReading = { readonly gauge: Gauge } | { readonly gauge: null; readonly problem: string };

/** How full the views of conversations are. */
export interface Gauges {
  of(conversation: Conversation): Promise<GaugeReading>;
}

const MAX_KEPT = 2000;

interface KnownReading {
  readonly state: string;
  readonly agent: object;
  readonly reading: GaugeReading;
}

type GaugeServices = Pick<CommandServices, 'inspect' | 'agents' | 'log'>;

/** Reads each view once until its conversation or the settings of its agent change. */
export function createGauges(services: GaugeServices): Gauges {
  const kept = createRecentMap<number, KnownReading>(MAX_KEPT);
  return {
    async of(conversation) {
      const { id, nextSeq, revision, key } = conversation;
      const state = `${nextSeq}/${revision}`;
      const agent = services.agents.agentFor(key);
      const known = kept.get(id);
      if (known?.state === state && known.agent === agent) return known.reading;
      const reading = await read(services, conversation);
      kept.set(id, { state, agent, reading });
      return reading;
    },
  };
}

async function read({ inspect, log }: GaugeServices, conversation: Conversation): Promise<GaugeReading> {
  try {
    return { gauge: gaugeOf(await inspect(conversation)) };
  } catch (error) {
    if (error instanceof StrataError) return { gauge: null, problem: error.message };
    // It may quote what it failed on, and everybody sees a gauge.
    log.warn('inspector.failed', { conversation: conversation.key, error: describe(error) });
    return { gauge: null, problem: 'The view could not be read. The log says why.' };
  }
}

function gaugeOf({ agentId, modelId, measurement, thresholds }: ContextReport): Gauge {
  return { agentId, modelId, measurement, thresholds };
}
