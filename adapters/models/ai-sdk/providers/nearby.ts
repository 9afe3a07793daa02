import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Like `fetch`, for a server that is probably not running: checks its port first. The first `fetch` of a process loads
 * the whole HTTP client, which takes longer than the rest of choosing a model.
 */
export const fetchIfOpen: typeof fetch = async (input, init) => {
  const { hostname, port, protocol } = new URL(typeof input === 'object' && 'url' in input ? input.url : input);
  const socket = connect({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    ...(init?.signal ? { signal: init.signal } : {}),
  });
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
  return await fetch(input, init);
};
