import { z } from 'zod';
import { DEFAULT_ENGINE } from '../config/known.ts';
import { createSlidingEngine } from '../context/engines/sliding.ts';
import { createStackedEngine } from '../context/engines/stacked.ts';
import { describe, isStoreAway, isStrataError, StrataError } from '../domain/errors.ts';
import type {
  AfterTurn,
  ContextEngine,
  ContextProfile,
  FinishedTurn,
  MaintainRequest,
  MaintainResult,
} from '../ports/engine.ts';
import type { Services } from '../services.ts';
import { limitWork, rejection } from '../util/async/limit.ts';
import { faultsOf } from '../util/errors/faults.ts';
import { MINUTE_MS } from '../util/time/time.ts';
import { maintainAndNote } from './done-maintenance.ts';

/** The context engines by id, and the one that serves each agent. */
export interface Engines {
  /** The engine named by the agent's settings, or the stacked one if no engine has that name. */
  for(profile: Pick<ContextProfile, 'agentId'>): ContextEngine;
  dispose(): Promise<void>;
}

export function createEngines({
  services,
  maintenance,
  own,
}: {
  readonly services: Services;
  readonly maintenance: { run(request: MaintainRequest): Promise<MaintainResult> };
  /** Custom engines, by the name that agents use in `engine`. */
  readonly own: Readonly<Record<string, ContextEngine>>;
}): Engines {
  const stacked = createStackedEngine({ services, maintenance });
  const sliding = noting(services, createSlidingEngine({ services }));
  const guarded = Object.entries(own).map(([id, engine]) => [id, withFallback(services, engine, stacked)] as const);
  const byName = new Map([[stacked.info.id, stacked], [sliding.info.id, sliding], ...guarded]);
  const missing = new Set<string>();
  return {
    for({ agentId }) {
      const name = services.agents.agent(agentId)?.engine ?? DEFAULT_ENGINE;
      const engine = byName.get(name);
      if (engine === undefined && !missing.has(name)) {
        missing.add(name);
        services.log.warn('There is no such context engine; using the stacked one instead', {
          engine: name,
          agent: agentId,
        });
      }
      return engine ?? stacked;
    },
    async dispose() {
      await Promise.all([...byName.values()].map((engine) => engine.dispose()));
    },
  };
}

function noting(services: Services, engine: ContextEngine): ContextEngine {
  return { ...engine, maintain: (work) => maintainAndNote(services, engine, work) };
}

/** How long an engine may take to answer while a reply waits for it, and how long in the background. */
const MAX_ANSWER_MS = MINUTE_MS;
const MAX_BACKGROUND_MS = 10 * MINUTE_MS;

const BACKGROUND: Patience = { ms: MAX_BACKGROUND_MS };

interface Patience {
  readonly ms?: number;
  /** Whoever waits for the engine has given up when it aborts, and the engine is not to blame. */
  readonly signal?: AbortSignal;
}

const NEVER_ABORTED = new AbortController().signal;

/**
 * An engine that throws or does not answer is disabled for the rest of the process, so that its agent can still reply.
 */
function withFallback(services: Services, engine: ContextEngine, fallback: ContextEngine): ContextEngine {
  let isEnabled = true;
  const disable = (error: unknown): void => {
    if (!isEnabled) return;
    isEnabled = false;
    const message = `The context engine ${engine.info.id} failed and is disabled: ${describe(error)}`;
    services.events.emit({ kind: 'error.internal', conversation: null, message });
  };
  const guard = async <Result>(
    work: (engine: ContextEngine, signal: AbortSignal) => Promise<Result>,
    { ms = MAX_ANSWER_MS, signal: outer = NEVER_ABORTED }: Patience = {},
  ): Promise<Result> => {
    if (!isEnabled) return await work(fallback, outer);
    using limit = limitWork(outer, { ms });
    try {
      return await Promise.race([work(engine, limit.signal), rejection(limit.signal)]);
    } catch (error) {
      if (outer.aborted || isStrataError(error, 'WINDOW_TOO_SMALL') || isStoreAway(error)) throw error;
      disable(error);
      return await work(fallback, outer);
    }
  };
  const assess = (turn: FinishedTurn): AfterTurn => {
    if (!isEnabled) return fallback.afterTurn(turn);
    try {
      return checked(verdictShape, engine, engine.afterTurn(turn));
    } catch (error) {
      disable(error);
      return fallback.afterTurn(turn);
    }
  };
  return {
    info: engine.info,
    bootstrap: (snapshot) => guard((one) => one.bootstrap(snapshot)),
    ingest: (ingest) => guard((one) => one.ingest(ingest), BACKGROUND),
    ingestBatch: (batch) => guard((one) => one.ingestBatch(batch), BACKGROUND),
    assemble: (request) => guard(async (one) => checked(assemblyShape, one, await one.assemble(request))),
    afterTurn: assess,
    compact: (request) => guard((one) => one.compact(request)),
    async maintain(work) {
      const maintain: ContextEngine['maintain'] = (request) =>
        guard((one, signal) => one.maintain({ ...request, signal }), { ...BACKGROUND, signal: request.signal });
      return isEnabled ? await maintainAndNote(services, { maintain }, work) : await fallback.maintain(work);
    },
    prepareChild: (start) => guard((one) => one.prepareChild(start)),
    endChild: (end) => guard((one) => one.endChild(end), BACKGROUND),
    dispose: () => engine.dispose(),
  };
}

const list = z.array(z.unknown());
const assemblyShape = z.object({
  system: list,
  messages: list,
  tools: list,
  recalled: list,
  measurement: z.object({ used: z.number(), window: z.number(), fixed: z.number(), reserve: z.number() }),
  estimatedTokens: z.number(),
  snapshot: z.object({ conversation: z.object({}), tail: list }),
});
const verdictShape = z.object({ tier: z.string(), due: z.boolean() });

/** Checks what the compiler checks for engines in TypeScript. Throws `ENGINE_CONTRACT`. */
function checked<Result>(shape: z.ZodType, { info }: ContextEngine, result: Result): Result {
  const [problem] = faultsOf(shape, result);
  if (problem === undefined) return result;
  throw new StrataError('ENGINE_CONTRACT', { engine: info.id, problem });
}
