import type { CommandServices } from '../commands/services.ts';
import { describe } from '../domain/errors.ts';

/**
 * Logs what makes every message slow or impossible to answer. Nothing waits for it, and it opens no model: that would
 * delay the start, so a window that only the model knows is left to `strata doctor`.
 */
export function warnOfWindows({ log, windowProblems }: Pick<CommandServices, 'log' | 'windowProblems'>): void {
  const warn = async () => {
    for (const { severity, message, fixHint } of await windowProblems({ isOffline: true })) {
      log[severity === 'fail' ? 'error' : 'warn']('window.small', { cause: message, remedy: fixHint });
    }
  };
  warn().catch((error: unknown) => log.warn('window.unchecked', { error: describe(error) }));
}
