import { setTimeout as sleep } from 'node:timers/promises';
import { type Damage, damageOf, type Evidence, lost } from './damage.ts';
import type { PlatformRecord } from './platform.ts';
import type { ReadRows, Rows } from './rows.ts';

/** Checks everything repeatedly, and remembers every violation. */
export interface Court {
  /** All that was found so far, each once. */
  readonly damage: readonly Damage[];
  readonly looks: number;
  /** Checks what must always hold, then asks `question` of the same evidence. */
  look(question: (evidence: Evidence) => readonly Damage[]): Promise<readonly Damage[]>;
  /** From the last check. */
  evidence(): Evidence;
  /** Acknowledged messages that the last look did not find. */
  lost(): number;
}

export interface CourtOptions {
  readonly read: ReadRows;
  readonly platform: PlatformRecord;
  readonly model: Evidence['model'];
}

const NOTHING: Rows = { conversations: [], entries: [], summaries: [], memories: [], outbox: [] };
const TRIES = 40;

export function createCourt({ read, platform, model }: CourtOptions): Court {
  const found = new Map<string, Damage>();
  let rows = NOTHING;
  let looks = 0;
  const accepted = () => [...platform.messages.values()].filter(({ acceptedAt }) => acceptedAt !== null);
  return {
    get damage() {
      return [...found.values()];
    },
    get looks() {
      return looks;
    },
    async look(question) {
      // In this order: a message acknowledged while the rows are read may be missing in them, but a shown one may not.
      const before = accepted();
      const shown = new Map(platform.visible);
      rows = await withRetries(read);
      looks += 1;
      const evidence = { rows, platform: { ...platform, visible: shown }, model };
      for (const damage of damageOf(evidence, before)) found.set(damage.what, damage);
      return question({ rows, platform, model });
    },
    evidence: () => ({ rows, platform, model }),
    lost: () => lost(rows, accepted()).length,
  };
}

/** A store that was just killed may still be starting. */
async function withRetries(read: ReadRows): Promise<Rows> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await read();
    } catch (error) {
      if (tries === TRIES) throw error;
      await sleep(250);
    }
  }
}
