import { readFileSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * Resolves the relative imports of this package, Kysely and zod. For each of their 900 files, Node.js looks for links on
 * the disk and parses the `exports` of the package again, which takes a quarter of a start. These packages have no links
 * inside, and a file that is missing fails when it is read.
 */

const FORMATS = { '.js': 'module', '.ts': 'module-typescript' };
const OWN = ['src', 'adapters', 'dist'].map((name) => new URL(`../${name}/`, import.meta.url).href);
const folders = [...OWN, ...['kysely', 'zod'].flatMap(folderOf)];

// Other runtimes have no hooks.
module.registerHooks?.({
  resolve: (specifier, context, next) => relativeImport(specifier, context) ?? next(specifier, context),
});

/** Null for what Node.js has to resolve. */
export function relativeImport(specifier, { parentURL, conditions }) {
  if (!/^\.\.?\//.test(specifier) || !conditions.includes('import') || !isWithin(parentURL)) return null;
  const { href: url } = new URL(specifier, parentURL);
  const format = FORMATS[url.slice(-3)];
  return format !== undefined && isWithin(url) ? { url, format, shortCircuit: true } : null;
}

function isWithin(url) {
  return folders.some((folder) => url?.startsWith(folder));
}

/**
 * The folder of a package whose scripts are ES modules, without links on the way to it, such as pnpm's. A package that is
 * missing fails when it is imported.
 */
function folderOf(name) {
  try {
    const manifest = realpathSync(module.findPackageJSON(name, import.meta.url));
    const { type } = JSON.parse(readFileSync(manifest, 'utf8'));
    return type === 'module' ? [new URL('.', pathToFileURL(manifest)).href] : [];
  } catch {
    return [];
  }
}
