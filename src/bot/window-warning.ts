import type { CommandServices } from '../commands/services.ts';
import { describe } from '../domain/errors.ts';

/**
 * Logs what makes every message slow or impossible to answer, at the start and whenever the configuration has changed.
 * Nothing waits for it, and it opens no model: that would delay the start, so a window that only the model knows is left
 * to `strata doctor`.
 */
export function createWindowWarnings({ log, windowProblems }: Pick<CommandServices, 'log' | 'windowProblems'>) {
  let known: ReadonlySet<string> = new Set();
  const check = async () => {
    const problems = await windowProblems({ isOffline: true });
    for (const { severity, message, fixHint } of problems) {
      if (known.has(message)) continue;
      log[severity === 'fail' ? 'error' : 'warn']('window.small', { cause: message, remedy: fixHint });
    }
    known = new Set(problems.map(({ message }) => message));
  };
  return (): void => void check().catch((error: unknown) => log.warn('window.unchecked', { error: describe(error) }));
}
