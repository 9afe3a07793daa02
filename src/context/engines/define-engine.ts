import { StrataError } from '../../domain/errors.ts';
import type {
  AfterTurn,
  AssembleRequest,
  Assembly,
  CompactRequest,
  CompactResult,
  ContextEngine,
  FinishedTurn,
} from '../../ports/engine.ts';
import { tierOf } from '../measure/tiers.ts';
import { createIntake } from './intake.ts';
import { createReducedWindows, type ReducedWindows } from './reduced-windows.ts';
import { statelessMethods } from './stateless-methods.ts';

/** What the author of a context engine has to write. Everything else has a default. */
export interface EngineDefinition
  extends Partial<Omit<ContextEngine, 'info' | 'assemble'>>,
    Pick<ContextEngine, 'assemble'> {
  readonly id: string;
  /** Default: the id. */
  readonly name?: string;
  /** Default: `1`. */
  readonly version?: string;
}

const NO_ENGINE =
  'defineEngine needs an id and assemble, for example { id: "newest", assemble: async (request) => … }.';

/**
 * A context engine from its `assemble` and any other members that its author defines. By default it has no state, counts
 * each message once, and runs no maintenance; after an overflow, `assemble` gets half of the window for that turn.
 */
export function defineEngine(definition: EngineDefinition): ContextEngine {
  const { id, name = id, version = '1', assemble, maintain, ...own } = definition ?? {};
  // The compiler tells only programs in TypeScript.
  if (typeof id !== 'string' || typeof assemble !== 'function') throw new StrataError('USAGE', { problem: NO_ENGINE });
  const ownsCompaction = maintain !== undefined;
  const reducedWindows = createReducedWindows();
  const reduced = (request: AssembleRequest): Promise<Assembly> => assemble(within(reducedWindows, request));
  const base = statelessMethods(createIntake(), reducedWindows);
  return {
    ...base,
    bootstrap: async () => ({ bootstrapped: false, reason: 'there is nothing to prepare' }),
    afterTurn: (turn) => tierAfter(turn, ownsCompaction),
    compact: (request) => reduceWindow({ reducedWindows, assemble }, request),
    ...own,
    // What the defaults noted about the child goes too.
    endChild: (end) => base.endChild(end).then(() => definition.endChild?.(end)),
    info: { id, name, version, ownsCompaction },
    assemble: own.compact === undefined ? reduced : assemble,
    maintain: maintain ?? (async () => ({ changed: false, reason: `the engine ${id} has no maintenance` })),
  };
}

function tierAfter({ profile, measurement, addedTokens }: FinishedTurn, ownsCompaction: boolean): AfterTurn {
  const used = measurement.used - measurement.volatile + addedTokens;
  const tier = tierOf(used / profile.windowTokens, profile.thresholds);
  return { tier, due: ownsCompaction && tier !== 'none' };
}

function within(reducedWindows: ReducedWindows, request: AssembleRequest): AssembleRequest {
  const { profile } = request;
  const share = reducedWindows.shareOf(request);
  if (share === 1) return request;
  return { ...request, profile: { ...profile, windowTokens: Math.floor(profile.windowTokens * share) } };
}

/** Only an overflow proves that the window is smaller than assumed. */
async function reduceWindow(
  { reducedWindows, assemble }: { readonly reducedWindows: ReducedWindows } & Pick<ContextEngine, 'assemble'>,
  { reason, ...request }: CompactRequest,
): Promise<CompactResult> {
  const { profile, snapshot } = request;
  const isFirst = reason === 'overflow' && reducedWindows.shareOf(request) === 1;
  const view = { ...request, volatile: [], steps: [] };
  const { used: tokensBefore, fixed, reserve } = (await assemble(view)).measurement;
  const idle = { ok: true, compacted: false, tokensBefore, tokensAfter: tokensBefore, snapshot };
  if (!isFirst) return { ...idle, reason: 'there is nothing that the engine can remove' };
  // An engine that shows little of the window has to show less, too: half of what can leave.
  const lessTokens = (tokensBefore + fixed + reserve) / 2;
  const limitTokens = profile.windowTokens * reducedWindows.reduce(request, lessTokens / profile.windowTokens);
  const tokensAfter = Math.min(tokensBefore, limitTokens);
  return { ...idle, compacted: true, tokensAfter, reason: 'the window was reduced for this turn' };
}
