import { StrataError } from '../domain/errors.ts';
import { holdProcess } from '../util/async/hold-process.ts';
import { limitWork, rejection } from '../util/async/limit.ts';
import { describeFailure } from './failure-place.ts';
import type { LoadedPlugin } from './load.ts';
import type { PluginContext } from './plugin.ts';

export interface PluginRun {
  /** Starts them in the order of the list. Throws `PLUGIN_FAILED` if one rejects or takes longer than a minute. */
  start(): Promise<void>;
  /** Stops the started plugins in reverse order. A failure is logged. */
  stop(): Promise<void>;
}

const STEP_LIMIT_MS = 60_000;

/** Starts and stops plugins around the bot. */
export function createPluginRun(plugins: readonly LoadedPlugin[], services: Omit<PluginContext, 'signal'>): PluginRun {
  const stopping = new AbortController();
  const context: PluginContext = { ...services, signal: stopping.signal };
  const started: LoadedPlugin[] = [];
  return {
    async start() {
      for (const plugin of plugins) {
        started.push(plugin);
        await runStep(plugin, 'start', context);
      }
    },
    async stop() {
      stopping.abort(new Error('The bot is stopping.'));
      for (const plugin of started.splice(0).reverse()) {
        await runStep(plugin, 'stop', context).catch((error: unknown) => {
          context.log.error('plugin.stop_failed', { plugin: plugin.ownName, cause: String(error) });
        });
      }
    },
  };
}

async function runStep(plugin: LoadedPlugin, step: 'start' | 'stop', context: PluginContext): Promise<void> {
  using limit = limitWork(new AbortController().signal, { ms: STEP_LIMIT_MS });
  // Before the bot starts and after it has stopped, nothing else keeps the process alive.
  const release = holdProcess();
  try {
    await Promise.race([plugin.parts()[step](context), rejection(limit.signal)]);
  } catch (error) {
    const cause = describeFailure(error, plugin);
    throw new StrataError('PLUGIN_FAILED', { plugin: plugin.ownName, step, cause }, { cause: error });
  } finally {
    release();
  }
}
