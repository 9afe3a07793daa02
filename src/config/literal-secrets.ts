import { createReport, type Report } from './report.ts';
import type { ConfigSource } from './toml/source.ts';
import { credentialsIn, isSecretPath, isTable, type Path } from './toml/tree.ts';

/** Only these contain secrets: elsewhere, a `key` is a name. */
const HOLDERS = ['inspector', 'providers', 'channels', 'plugins'];
/** Their URLs may contain a password. */
const SERVERS = ['storage', 'queue', 'providers'];

/** The secrets that the file itself contains, one line each without their text: whoever gets the file has them. */
export function literalSecrets(source: ConfigSource): readonly string[] {
  const report = createReport(source);
  for (const [name, value] of Object.entries(source.tree)) {
    visit(value, [name], { report, isHolder: HOLDERS.includes(name), isServer: SERVERS.includes(name) });
  }
  return report.lines();
}

interface Visit {
  readonly report: Report;
  readonly isHolder: boolean;
  readonly isServer: boolean;
}

function visit(value: unknown, path: Path, how: Visit): void {
  if (isTable(value)) for (const [name, inner] of Object.entries(value)) visit(inner, [...path, name], how);
  if (Array.isArray(value)) for (const [index, inner] of value.entries()) visit(inner, [...path, index], how);
  if (typeof value !== 'string' || value === '' || isReference(value)) return;
  if (how.isHolder && isSecretPath(path)) how.report.add(path, IN_FILE);
  else if (how.isServer && credentialsIn(value).length > 0) how.report.add(path, PASSWORD_IN_FILE);
}

/** How a value refers to the environment. */
function isReference(text: string): boolean {
  return text.startsWith('env:') || text.includes('${');
}

const IN_FILE = 'the file contains the secret itself; put it into the environment or .env, and write env:NAME here';
const PASSWORD_IN_FILE =
  'the file contains the password of this URL; put the URL into the environment or .env, and write env:NAME here';
