import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { describe, StrataError } from '../../domain/errors.ts';
import { errorCode } from '../errors/error-code.ts';
import { packageFile } from './package-file.ts';

/**
 * Loads a module that needs optional packages. Throws `PACKAGE_MISSING` with the command that installs them.
 */
export async function loadOptional<Module>(packages: readonly string[], load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!packages.some((name) => isMissing(name, error))) throw error;
    throw new StrataError('PACKAGE_MISSING', { packages, command: installCommand(packages) }, { cause: error });
  }
}

/** Node has no field for the name; the message quotes the package or the path below it. */
function isMissing(name: string, error: unknown): boolean {
  return errorCode(error) === 'ERR_MODULE_NOT_FOUND' && describe(error).includes(`package '${name}'`);
}

const manifestSchema = z.object({ peerDependencies: z.record(z.string(), z.string()) });

function installCommand(packages: readonly string[]): string {
  const { peerDependencies } = manifestSchema.parse(JSON.parse(readFileSync(packageFile('package.json'), 'utf8')));
  const versioned = packages.map((name) => `${name}@${majorOf(peerDependencies[name] ?? 'latest')}`);
  return `npm install ${versioned.join(' ')}`;
}

/** `^14.28.1` → `14`, which no shell interprets. */
function majorOf(range: string): string {
  return range.replace('^', '').split('.')[0] ?? range;
}
