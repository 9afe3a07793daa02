import { describe } from '../domain/errors.ts';
import type { Log } from '../ports/log.ts';
import type { Upkeep } from '../ports/upkeep.ts';

/**
 * What keeps a server from serving a bot well is in the log from the start. Some of it, such as clocks that are minutes
 * apart, shows itself only in trouble whose cause nobody would guess.
 */
export async function logFindings(upkeep: Upkeep, log: Log): Promise<void> {
  try {
    for (const { checkId, severity, message, fixHint } of await upkeep.check()) {
      if (severity === 'fail') log.warn(`store.${checkId}`, { finding: message, fixHint });
    }
  } catch (error) {
    log.warn('store.unchecked', { error: describe(error) });
  }
}
