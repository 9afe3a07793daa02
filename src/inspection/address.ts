import type { Config } from '../config/schema.ts';

type Settings = Config['inspector'];

/** Whether people can sign in, with a password or through a proxy. Otherwise only the printed address opens the pages. */
export function hasSignIn({ password, identity_header: header, proxies }: Settings): boolean {
  return password !== '' || (header !== '' && proxies.length > 0);
}

/** The path of a conversation's page. */
export function conversationPath(key: string, rest = ''): string {
  return `/c/${encodeURIComponent(key)}${rest}`;
}

/** The public address of a conversation's page; null if the inspector has none, or nobody can sign in there. */
export function publicLinkTo(key: string, settings: Settings): string | null {
  const { listen, url } = settings;
  return listen === '' || url === '' || !hasSignIn(settings) ? null : url.replace(/\/$/, '') + conversationPath(key);
}
