import type { Config } from './schema.ts';
import { credentialsIn, isSecretPath, isTable, type Path, pathKey } from './toml/tree.ts';

/** Redacting shorter values would also hide ordinary words. */
const MIN_LENGTH = 6;

/**
 * Every value that must not appear in a log: keys and tokens of providers and channels, all channel values that come
 * from the environment, and the secret parts of the URLs of the store, the queue and the providers.
 */
export function secretsOf(config: Config, written: ReadonlyMap<string, string>): readonly string[] {
  const secrets = new Set<string>();
  const visit = (value: unknown, path: Path): void => {
    if (isTable(value)) for (const [name, inner] of Object.entries(value)) visit(inner, [...path, name]);
    else if (Array.isArray(value)) for (const [index, inner] of value.entries()) visit(inner, [...path, index]);
    else if (typeof value === 'string' && (isSecretPath(path) || written.has(pathKey(path)))) secrets.add(value);
  };
  visit(config.inspector, ['inspector']);
  visit(config.providers, ['providers']);
  visit(config.channels, ['channels']);
  visit(config.plugins, ['plugins']);
  const bases = Object.values(config.providers).map(({ base_url: url }) => url);
  for (const url of [config.storage.url, config.queue.url, ...bases]) {
    for (const secret of credentialsIn(url)) secrets.add(secret);
  }
  return [...secrets].filter((secret) => secret.length >= MIN_LENGTH);
}
