import { formatNumber } from '../../../../src/adapter-kit.ts';
import { html, type Markup } from './html.ts';

const FIRST = 80;
const LAST = 120;

/** A request can have thousands of parts: instructions and summaries come first, the newest messages last. */
export function ends<Part>(parts: readonly Part[]): Readonly<Record<'first' | 'left' | 'last', readonly Part[]>> {
  if (parts.length <= FIRST + LAST) return { first: parts, left: [], last: [] };
  return { first: parts.slice(0, FIRST), left: parts.slice(FIRST, -LAST), last: parts.slice(-LAST) };
}

/** In place of the parts in the middle. */
export function leftItem(left: readonly { readonly tokens: number }[], where: Markup | string): Markup {
  const tokens = left.reduce((sum, part) => sum + part.tokens, 0);
  return html`<li class="dim">${formatNumber(left.length)} more parts, ~${formatNumber(tokens)} tokens${where}</li>`;
}
