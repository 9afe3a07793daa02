import type { SocketModeReceiver } from '@slack/bolt';
import { isProxied } from '../../../../src/adapter-kit.ts';

type SocketOptions = ConstructorParameters<typeof SocketModeReceiver>[0];
type Dispatcher = NonNullable<SocketOptions['dispatcher']>;

/** Under this name, Node.js and the library's copy of undici share what sends their requests. */
const SHARED = Symbol.for('undici.globalDispatcher.2');

/** By itself, the library's sockets connect directly, even if its requests use a proxy. */
export function throughProxy(): Pick<SocketOptions, 'dispatcher'> {
  const shared: unknown = Reflect.get(globalThis, SHARED);
  return isProxied() && isDispatcher(shared) ? { dispatcher: shared } : {};
}

function isDispatcher(value: unknown): value is Dispatcher {
  return typeof value === 'object' && value !== null && 'dispatch' in value;
}
