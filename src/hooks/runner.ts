import type { Clock } from '../ports/clock.ts';
import { type Around, compose, type HookKind } from './compose.ts';
import type {
  CompactionContext,
  CompactionResult,
  Hooks,
  InboundChange,
  InboundContext,
  InboundResult,
  ModelChange,
  ModelContext,
  ModelResult,
  NoChange,
  PostChange,
  PostContext,
  PostResult,
  StatementChange,
  StatementContext,
  StatementResult,
  ToolCallContext,
  ToolChange,
  ToolOutcome,
} from './hooks.ts';
import { shapes } from './shapes.ts';

/** All hooks of a bot. Without hooks of a kind, the inner operation runs unchanged. */
export interface HookRunner {
  has(kind: HookKind): boolean;
  readonly inbound: Around<InboundContext, InboundChange, InboundResult>;
  readonly model: Around<ModelContext, ModelChange, ModelResult>;
  readonly tool: Around<ToolCallContext, ToolChange, ToolOutcome>;
  readonly post: Around<PostContext, PostChange, PostResult>;
  readonly compaction: Around<CompactionContext, NoChange, CompactionResult>;
  readonly memory: Around<StatementContext, StatementChange, StatementResult>;
}

/** The first set is the outermost. */
export function createHookRunner(sets: readonly Hooks[], clock: Clock): HookRunner {
  const layersOf = <Kind extends HookKind>(kind: Kind) =>
    sets.flatMap(({ name = 'createBot', [kind]: run }) => (run === undefined ? [] : [{ owner: name, run }]));
  return {
    has: (kind) => sets.some((set) => set[kind] !== undefined),
    inbound: compose({ kind: 'inbound', layers: layersOf('inbound'), ...shapes.inbound, clock }),
    model: compose({ kind: 'model', layers: layersOf('model'), ...shapes.model, clock }),
    tool: compose({ kind: 'tool', layers: layersOf('tool'), ...shapes.tool, clock }),
    post: compose({ kind: 'post', layers: layersOf('post'), ...shapes.post, clock }),
    compaction: compose({ kind: 'compaction', layers: layersOf('compaction'), ...shapes.compaction, clock }),
    memory: compose({ kind: 'memory', layers: layersOf('memory'), ...shapes.memory, clock }),
  };
}
