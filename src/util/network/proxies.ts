type Environment = Readonly<Record<string, string | undefined>>;

export interface Proxies {
  readonly HTTP_PROXY?: string;
  readonly HTTPS_PROXY: string;
  readonly NO_PROXY: string;
}

/** `problems`: each names a variable that cannot be used, and never its value, which may contain a password. */
export interface NamedProxies {
  /** Null if there are none. */
  readonly proxies: Proxies | null;
  readonly problems: readonly string[];
}

/** Nobody's proxy reaches the servers of this computer. */
const THIS_COMPUTER = 'localhost,127.0.0.1,::1,[::1]';

/** The proxies for HTTP that the environment names. As for other programs, names in lower case come first. */
export function proxiesIn(environment: Environment): NamedProxies {
  if (environment['NODE_USE_ENV_PROXY'] === '0') return { proxies: null, problems: [] };
  const found = {
    HTTP_PROXY: readProxy(environment, 'HTTP_PROXY'),
    HTTPS_PROXY: readProxy(environment, 'HTTPS_PROXY'),
  };
  const problems = Object.values(found).flatMap(({ problem }) => problem ?? []);
  const plain = found.HTTP_PROXY.url;
  // Without a variable of its own, `fetch` would use the other proxy, and the rest of Node.js none.
  const secure = found.HTTPS_PROXY.url ?? plain;
  if (secure === undefined) return { proxies: null, problems };
  const except = setting(environment, 'NO_PROXY');
  const NO_PROXY = except === undefined ? THIS_COMPUTER : `${THIS_COMPUTER},${except}`;
  const proxies = { HTTPS_PROXY: secure, NO_PROXY, ...(plain === undefined ? {} : { HTTP_PROXY: plain }) };
  return { proxies, problems };
}

function setting(environment: Environment, name: string): string | undefined {
  return environment[name.toLowerCase()]?.trim() || environment[name]?.trim() || undefined;
}

function readProxy(environment: Environment, name: string): { readonly url?: string; readonly problem?: string } {
  const value = setting(environment, name);
  if (value === undefined) return {};
  // Many programs accept an address without `http://`.
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol)) return { url: withReadableUser(url) };
  return {
    problem: `${name} is not used: it has to be the address of an HTTP proxy, such as http://proxy.example.org:3128`,
  };
}

/** Node.js refuses percent signs that encode no character, but passwords contain them. */
function withReadableUser(address: string): string {
  const url = new URL(address);
  for (const part of ['username', 'password'] as const)
    if (!isEncoded(url[part])) url[part] = url[part].replaceAll('%', '%25');
  return url.href;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** From now on, `fetch` and the clients of `node:http` and `node:https` use these proxies. Returns why that is impossible. */
export function useProxies(proxies: Proxies): string | null {
  const http = process.getBuiltinModule('node:http');
  // Node.js 24 before 24.14 has only the variable.
  if (typeof http.setGlobalProxyFromEnv === 'function') http.setGlobalProxyFromEnv({ ...proxies });
  else if (!isProxied()) {
    const found = process.versions.node;
    return `The proxy is not used: Node.js ${found} needs NODE_USE_ENV_PROXY=1 in its environment for that, and newer ones do not`;
  }
  return null;
}

/** Whether Node.js uses the proxies of the environment, for whatever reason. */
export function isProxied(): boolean {
  // Loaded only now: a bot that starts in the terminal needs no client of HTTP.
  return process.getBuiltinModule('node:https').globalAgent.options.proxyEnv !== undefined;
}
