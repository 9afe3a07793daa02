import type { CommitResult, Storage } from '../../../src/adapter-kit.ts';
import type { Rewind } from './rewind.ts';
import type { Report, Step, Trap } from './wire.ts';

/** The step at which this process stops next. */
export interface Traps {
  set(trap: Trap | null): void;
  /** Triggers the trap if it is set for this moment. Resolves when the process continues. */
  pass(step: Step, at: Moment): Promise<void>;
}

interface Moment {
  readonly when: Trap['when'];
  readonly conversationId: number;
  /** Reads anything from the store. */
  read(): Promise<unknown>;
}

export function createTraps(tell: (report: Report) => Promise<void>): Traps {
  let armed: Trap | null = null;
  return {
    set(trap) {
      armed = trap;
    },
    async pass(step, { when, conversationId, read }) {
      if (armed?.step !== step || armed.when !== when) return;
      const { act } = armed;
      armed = null;
      if (act === 'die') process.kill(process.pid, 'SIGKILL');
      await tell({ kind: 'trapped', step, act, conversationId });
      // Not inside a group of other units' writes, which would lock the file for as long as this pauses: right after a
      // read, its group has ended and the next one has not begun. A long group goes on over turns of the event loop.
      await read();
      process.kill(process.pid, 'SIGSTOP');
    },
  };
}

export interface Watch {
  readonly traps: Traps;
  readonly tell: (report: Report) => void;
  /** Null while compare-and-set holds. */
  readonly rewind: Rewind | null;
}

const FAR_FUTURE = 9_000_000_000_000;

/** The same store, which also reports the result of each commit, and where the process can be paused. */
export function watchStorage(storage: Storage, { traps, tell, rewind }: Watch): Storage {
  const { store } = storage;
  const { transcript, summaries, outbox } = store;

  const step = async <Result>(name: Step, id: number, work: () => Promise<Result>): Promise<Result> => {
    const moment = { conversationId: id, read: () => storage.state.get('harness', 'nothing') };
    await traps.pass(name, { ...moment, when: 'before' });
    const result = await work();
    await traps.pass(name, { ...moment, when: 'after' });
    return result;
  };
  /** A commit that may be refused. If compare-and-set is off, it is then repeated. */
  const commit = <Result>(
    name: Step,
    id: number,
    of: { work(): Promise<Result>; isStale(result: Result): boolean; readonly read: Readonly<Record<string, number>> },
  ): Promise<Result> =>
    step(name, id, async () => {
      const result = await of.work();
      const isStale = of.isStale(result);
      tell({ kind: 'committed', step: name, isStale, isForced: isStale && rewind !== null });
      if (!isStale || rewind === null) return result;
      await rewind(id, of.read);
      return await of.work();
    });
  const isStale = (result: CommitResult) => result === 'stale';
  const claimed = (epoch: number) => ({ maintenance_epoch: epoch, maintenance_until: FAR_FUTURE });
  const extractedFrom = (extracted: { readonly from: number } | null) =>
    extracted === null ? {} : { extracted_upto: extracted.from };

  return {
    ...storage,
    store: {
      ...store,
      transcript: {
        ...transcript,
        append: (append) => step('append', 0, () => transcript.append(append)),
        commitTurn: (turn) =>
          commit('commitTurn', turn.claim.conversationId, {
            work: () => transcript.commitTurn(turn),
            isStale: ({ kind }) => kind === 'stale',
            read: { reply_epoch: turn.claim.epoch, reply_until: FAR_FUTURE },
          }),
      },
      summaries: {
        ...summaries,
        commitCompaction: (made) =>
          commit('commitCompaction', made.conversationId, {
            work: () => summaries.commitCompaction(made),
            isStale,
            read: {
              ...claimed(made.epoch),
              compacted_upto: made.summary.fromSeq - 1,
              ...extractedFrom(made.extracted),
            },
          }),
        commitCondensation: (made) =>
          commit('commitCondensation', made.conversationId, {
            work: () => summaries.commitCondensation(made),
            isStale,
            read: claimed(made.epoch),
          }),
        commitExtraction: (made) =>
          commit('commitExtraction', made.conversationId, {
            work: () => summaries.commitExtraction(made),
            isStale,
            read: { ...claimed(made.epoch), ...extractedFrom(made.extracted) },
          }),
      },
      outbox: { ...outbox, sent: (id, platformId) => step('sent', 0, () => outbox.sent(id, platformId)) },
    },
  };
}
