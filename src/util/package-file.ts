import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

/** A file of Strata's own package, whether the sources run or the compiled files. */
export function packageFile(name: string): string {
  const manifest = findPackageJSON(import.meta.url);
  if (manifest === undefined) throw new Error('The package.json of Strata is missing. Install the package again.');
  return join(dirname(manifest), name);
}
