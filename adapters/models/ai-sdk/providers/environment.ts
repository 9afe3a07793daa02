import { trimEndOf } from '../../../../src/adapter-kit.ts';
/** The environment as passed in; the provider packages never read it themselves. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The first non-empty variable. */
export function firstSet(environment: Environment, names: readonly string[]): string | undefined {
  return names.map((name) => environment[name]?.trim()).find((value) => value !== undefined && value !== '');
}

/** Ollama's URL from OLLAMA_HOST, which may be a host, a port, both, or a URL. */
export function ollamaUrl(host: string): string {
  const withScheme = /^https?:\/\//.test(host) ? host : `http://${host.startsWith(':') ? `127.0.0.1${host}` : host}`;
  if (!URL.canParse(withScheme)) return host;
  const url = new URL(withScheme);
  // A wildcard address is only for listening.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  if (url.port === '' && !/:\d+\/?$/.test(withScheme) && url.protocol === 'http:') url.port = '11434';
  return withoutSlash(url.href);
}

export function withoutSlash(url: string): string {
  return trimEndOf(url, '/');
}
