import { isProxied, proxiesIn } from '../../util/network/proxies.ts';
import type { Cli } from '../cli.ts';
import { type Finding, ok } from './doctor-finding.ts';

/** Which requests go through a proxy; nothing if the environment names none. */
export function checkProxy(environment: Cli['environment']): readonly Finding[] {
  const { proxies, problems } = proxiesIn(environment);
  const fixHint = 'Set HTTPS_PROXY to the address of the proxy, and NO_PROXY to the hosts that are reached without it.';
  const wrong = problems.map((message): Finding => ({ checkId: 'proxy', severity: 'warn', message, fixHint }));
  if (proxies === null) return wrong;
  if (!isProxied()) return [...wrong, unused()];
  const except = proxies.NO_PROXY.split(/[\s,]+/).join(', ');
  const message = `models and platforms are reached through ${shown(proxies.HTTPS_PROXY)}, except ${except}`;
  return [...wrong, ok('proxy', `${message}; Postgres and Redis directly`)];
}

function unused(): Finding {
  const message = `Node.js ${process.versions.node} does not use the proxy of HTTPS_PROXY`;
  const fixHint = 'Update Node.js, or set NODE_USE_ENV_PROXY=1 in the environment in which it starts.';
  return { checkId: 'proxy', severity: 'warn', message, fixHint };
}

/** Without a password. */
function shown(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
