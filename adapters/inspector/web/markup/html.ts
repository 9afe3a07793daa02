import { html } from 'hono/html';

export { html } from 'hono/html';
export { conversationPath } from '../../../../src/adapter-kit.ts';

/** Escaped markup. */
export type Markup = ReturnType<typeof html>;

export const nothing = html``;

/** A time that the script shows in the viewer's zone, relative to now. */
export function when(at: number): Markup {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return html`unknown`;
  const exact = `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return html`<time datetime="${date.toISOString()}">${exact}</time>`;
}

/** The same address with other parameters; null removes one. */
export function withParameters(path: string, parameters: Readonly<Record<string, string | number | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== null) query.append(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}
