import { hash } from 'node:crypto';
import { fittedOf, toAssembly } from '../../../context/fit/fit.ts';
import { type LeftOut, leaveOut } from '../../../context/fit/leave-out.ts';
import { createFixedPrefixBuilder, type FixedPrefixBuilder } from '../../../context/view/fixed-prefix.ts';
import { viewKey } from '../../../context/view/order.ts';
import { rootOf } from '../../../domain/key.ts';
import type { Entry } from '../../../domain/message.ts';
import type { Assembly, ContextProfile } from '../../../ports/engine.ts';
import type { EventOf } from '../../../ports/events.ts';
import type { ContextSnapshot } from '../../../ports/store.ts';
import type { Services } from '../../../services.ts';
import { createRecentMap } from '../../../util/recent-map.ts';

/**
 * What a turn leaves out of its requests once the provider's filter has refused one. A filter judges the whole request:
 * a single earlier message would otherwise keep the bot from ever answering again.
 */
export interface RefusedPast {
  /** The request without what was refused before. */
  reduce(assembly: Assembly): Assembly;
  /**
   * The request was refused. `less`: the next one leaves out more. `nothing`: only the newest message is left, so that
   * is the cause. `unable`: the engine does not build its requests in a way that can be reduced.
   */
  refused(assembly: Assembly): 'less' | 'nothing' | 'unable';
  /** The results of the turn's own tools are left out. */
  withheld(): void;
  /** The model has answered a request. */
  passed(snapshot: ContextSnapshot): void;
}

export interface RefusedPasts {
  open(turn: RefusedTurn): RefusedPast;
  /** What the next turn with this model would leave out from its first request; null if nothing. */
  leftOut(profile: RefusedTurn['profile'], snapshot: ContextSnapshot): LeftOut | null;
}

interface RefusedTurn {
  readonly profile: Pick<ContextProfile, 'modelId'>;
  /** The message that asks. */
  readonly askSeq: number;
}

type Needs = Parameters<typeof createFixedPrefixBuilder>[0] & Pick<Services, 'events'>;

/** Conversations whose refused messages are remembered. */
const MAX_REMEMBERED = 500;

interface Remembered extends Pick<LeftOut, 'beforeSeq' | 'summaries'> {
  /** A hash of what was refused. When it changes, the whole view is tried again. */
  readonly mark: string;
}

/** One for all conversations of a process, so that later turns do not pay for a call that is refused. */
export function createRefusedPasts(services: Needs): RefusedPasts {
  const remembered = createRecentMap<number, Remembered>(MAX_REMEMBERED);
  let prefixes: FixedPrefixBuilder | null = null;
  const without = (assembly: Assembly, leftOut: LeftOut): Assembly | null => {
    const fitted = fittedOf(assembly);
    prefixes ??= createFixedPrefixBuilder(services);
    const less = fitted && leaveOut(prefixes, fitted, leftOut);
    return less === null || less === fitted ? null : toAssembly(less, assembly.snapshot);
  };
  const known = ({ modelId }: RefusedTurn['profile'], snapshot: ContextSnapshot): LeftOut | null => {
    const { id } = snapshot.conversation;
    const found = remembered.get(id);
    if (found === undefined) return null;
    if (found.mark === markOf(snapshot, modelId, found)) return { ...found, recalled: false };
    remembered.delete(id);
    return null;
  };
  return {
    open: (turn) => openPast(turn, { remembered, without, known, events: services.events }),
    leftOut: known,
  };
}

type Part = EventOf<'context.refused'>['leftOut'];

/** What the turns of a process share. */
interface Shared {
  readonly remembered: Map<number, Remembered>;
  /** The smaller request; null if it would be the same. */
  without(assembly: Assembly, leftOut: LeftOut): Assembly | null;
  known(profile: RefusedTurn['profile'], snapshot: ContextSnapshot): LeftOut | null;
  readonly events: Services['events'];
}

function openPast({ profile, askSeq }: RefusedTurn, { remembered, without, known, events }: Shared): RefusedPast {
  const { modelId } = profile;
  /** Found by this turn. */
  let own: LeftOut | null = null;
  let refusals = 0;
  let leftOut: Part | null = null;
  const announced = new Set<Part>();
  return {
    reduce(assembly) {
      if (own === null && remembered.size === 0) return assembly;
      const past = own ?? known(profile, assembly.snapshot);
      const less = past === null ? null : without(assembly, past);
      if (past !== null && less !== null) leftOut = past.summaries ? 'summaries' : 'messages';
      return less ?? assembly;
    },
    refused(assembly) {
      refusals += 1;
      if (fittedOf(assembly) === null) return 'unable';
      const { summaries } = own ?? known(profile, assembly.snapshot) ?? { summaries: false };
      const next = [summaries, true]
        .map((also) => ({ beforeSeq: askSeq, recalled: true, summaries: also }))
        .find((less) => without(assembly, less) !== null);
      if (next === undefined) return 'nothing';
      own = next;
      return 'less';
    },
    withheld() {
      refusals += 1;
      leftOut ??= 'results';
    },
    passed(snapshot) {
      const { id, key } = snapshot.conversation;
      if (own !== null) remembered.set(id, { ...own, mark: markOf(snapshot, modelId, own) });
      if (leftOut === null || announced.has(leftOut)) return;
      announced.add(leftOut);
      events.emit({ kind: 'context.refused', conversation: rootOf(key), model: modelId, leftOut, refusals });
    },
  };
}

/** Changes when one of the messages is edited or deleted, or when messages or summaries leave the view. */
function markOf(
  { conversation, stack, tail }: ContextSnapshot,
  modelId: string,
  { beforeSeq, summaries }: Pick<LeftOut, 'beforeSeq' | 'summaries'>,
): string {
  const isChanged = (entry: Entry) => entry.editedAt !== null || entry.redactedAt !== null;
  const changed = tail
    .filter((entry) => viewKey(entry) < beforeSeq && isChanged(entry))
    // Two edits may have the same time.
    .map(({ seq, editedAt, redactedAt, parts }) => [seq, editedAt, redactedAt, parts]);
  const ids = summaries ? stack.map(({ id }) => id) : [];
  return hash('sha1', JSON.stringify([modelId, conversation.compactedUpto, ids, changed]), 'base64url');
}
