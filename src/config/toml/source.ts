import { lstatSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { describe, StrataError } from '../../domain/errors.ts';
import { readText } from '../../util/files/text-file.ts';
import { type Locate, locator } from './locate.ts';
import { tomlHint } from './toml-hint.ts';
import { isDeeperThan, type Tree } from './tree.ts';

const MAX_DEPTH = 100;

/** A configuration file, parsed but not validated. */
export interface ConfigSource {
  /** As given by the user. */
  readonly file: string;
  /** Relative paths in the file start here. */
  readonly folder: string;
  readonly found: boolean;
  /** There is nothing in it, not even a comment. */
  readonly isEmpty: boolean;
  readonly tree: Tree;
  readonly locate: Locate;
}

/**
 * Reads and parses the file. The default file may be missing: then every setting has its default. A link to a file that
 * is missing is an error, because somebody has configured the bot. Throws `CONFIG_UNREADABLE` or, for invalid TOML,
 * `CONFIG_INVALID`.
 */
export function readSource(file: string, options: { readonly explicit: boolean }): ConfigSource {
  const folder = folderOf(file);
  if (!options.explicit && isMissing(file)) {
    return { file, folder, found: false, isEmpty: true, tree: {}, locate: () => null };
  }
  const text = read(file);
  const tree = parseToml(file, text);
  if (isDeeperThan(tree, MAX_DEPTH)) {
    const problems = [`${file}: expected at most ${MAX_DEPTH} tables and lists within each other`];
    throw new StrataError('CONFIG_INVALID', { file, problems });
  }
  return { file, folder, found: true, isEmpty: text.trim() === '', tree, locate: locator(text) };
}

function isMissing(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

function folderOf(file: string): string {
  try {
    return dirname(resolve(file));
  } catch (cause) {
    const known = { reason: 'the working folder no longer exists', remedy: 'Change to another one and try again' };
    throw new StrataError('CONFIG_UNREADABLE', { file, ...known }, { cause });
  }
}

function read(file: string): string {
  try {
    return readText(file);
  } catch (error) {
    const reason = describe(error);
    // Such as UTF-16, in which some editors and shells write.
    const known = reason.includes('UTF-8') ? { remedy: 'Save it as UTF-8' } : {};
    throw new StrataError('CONFIG_UNREADABLE', { file, reason, ...known }, { cause: error });
  }
}

function parseToml(file: string, text: string): Tree {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [first = ''] = error.message.split('\n');
    const reason = first.replace(/^Invalid TOML document: /, '');
    const problem = `${file}:${error.line}:${error.column}: ${reason}${tomlHint(text, { reason, ...error })}`;
    throw new StrataError('CONFIG_INVALID', { file, problems: [problem] }, { cause: error });
  }
}
