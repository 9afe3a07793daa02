import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

/** A file of Strata's own package, whether it runs from sources or compiled. */
export function packageFile(name: string): string {
  const manifest = findPackageJSON(import.meta.url);
  if (manifest === undefined) throw new Error('The package.json of Strata is missing. Install the package again.');
  return join(dirname(manifest), name);
}
