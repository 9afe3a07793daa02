/** What `Authorization` says for the user and password in an address; null if it has none. */
export function basicAuthOf(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { username, password } = new URL(address);
  if (username === '' && password === '') return null;
  return Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** `fetch` refuses an address with a user and a password, as a proxy in front of a model server may require them. */
export function withBasicAuth(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const address = typeof input === 'object' && 'url' in input ? input.url : String(input);
    const basic = basicAuthOf(address);
    if (basic === null) return await send(input, init);
    const url = new URL(address);
    url.username = '';
    url.password = '';
    const headers = new Headers(init?.headers);
    // A key of its own is what the server asks for.
    if (!headers.has('authorization')) headers.set('authorization', `Basic ${basic}`);
    return await send(url.href, { ...init, headers });
  };
}
