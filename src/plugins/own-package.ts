import { registerHooks } from 'node:module';

const NAME = 'stratabot';
let isRegistered = false;

/**
 * Resolves `import 'stratabot'` in a plugin to the running program, whether it is installed globally, next to the
 * plugin or as a clone. A second copy would have its own errors and state. Plugins without their own `zod` get the one
 * of Strata.
 */
export function resolveOwnPackage(): void {
  if (isRegistered) return;
  isRegistered = true;
  registerHooks({
    resolve(specifier, context, next) {
      const own = ownModule(specifier);
      if (own !== null) return { url: own, shortCircuit: true };
      if (specifier !== 'zod') return next(specifier, context);
      try {
        return next(specifier, context);
      } catch {
        // Also for `require`, which always starts at the plugin.
        return { url: import.meta.resolve(specifier), shortCircuit: true };
      }
    },
  });
}

const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

/** The module behind an entry of package.json's `exports`; null for everything else. */
function ownModule(specifier: string): string | null {
  if (specifier === NAME) return new URL(`../index${EXTENSION}`, import.meta.url).href;
  if (!specifier.startsWith(`${NAME}/`)) return null;
  const path = specifier.slice(NAME.length + 1);
  if (path === 'program' || path === 'adapter-kit') return new URL(`../${path}${EXTENSION}`, import.meta.url).href;
  if (path.startsWith('adapters/')) return new URL(`../../${path}/index${EXTENSION}`, import.meta.url).href;
  return null;
}
