/**
 * Like `fetch`, for a server that gets a key: a redirect is followed once, and only to the same server or from `http:` to
 * `https:` of the same host. `fetch` itself passes on keys in headers of their own, such as `x-api-key`.
 */
export function withinHost(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    const from = new URL(typeof input === 'object' && 'url' in input ? input.url : input);
    const to = URL.canParse(location, from.href) ? new URL(location, from.href) : null;
    if (to === null || !isSameServer(from, to)) throw new Error(`the server redirects to ${to?.host ?? 'no address'}`);
    // Unlike a browser, it sends a question again as a question.
    return await send(to.href, { ...init, redirect: 'error' });
  };
}

function isSameServer(from: URL, to: URL): boolean {
  if (to.origin === from.origin && /^https?:$/.test(to.protocol)) return true;
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && to.port === '' && from.port === '';
  return isUpgrade && to.hostname === from.hostname;
}
