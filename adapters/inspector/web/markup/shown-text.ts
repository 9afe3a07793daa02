import { cutAt, formatNumber } from '../../../../src/adapter-kit.ts';
import { html, type Markup } from './html.ts';

/** What a page has room for. */
export interface ShownText {
  readonly text: string;
  /** Characters that were left out at the end. */
  readonly more: number;
}

export interface Room {
  /** For all texts together, as they are sent. */
  readonly bytes: number;
  /** Bytes of the markup in the first `length` characters of a text. Default: none. */
  readonly markupOf?: (index: number, length: number) => number;
}

/** The texts, or as much of each as fits when long ones share the room that short ones leave. */
export function shownTexts(texts: readonly string[], { bytes, markupOf = () => 0 }: Room): readonly ShownText[] {
  const sizeOf = (text: string, index: number) => escapedBytes(text) + markupOf(index, text.length);
  const most = fairShare(texts.map(sizeOf), bytes);
  return texts.map((text, index) => {
    let head = text;
    for (let size = sizeOf(head, index); size > most && head !== ''; size = sizeOf(head, index))
      head = cutAt(head, Math.min(head.length - 1, Math.floor((head.length * most) / size)));
    return { text: head, more: text.length - head.length };
  });
}

/** The size at which all sizes, each cut to it, fill the room. */
function fairShare(sizes: readonly number[], bytes: number): number {
  let left = bytes;
  for (const [index, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = left / (sizes.length - index);
    if (size > share) return Math.max(0, share);
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

/** Each of these characters becomes up to six. */
function escapedBytes(text: string): number {
  return Buffer.byteLength(text) + 5 * (text.match(/[&<>"']/gu)?.length ?? 0);
}

export function moreNote({ more }: Pick<ShownText, 'more'>, where: Markup | string = ''): Markup {
  return more === 0 ? html`` : html` <span class="dim">… ${formatNumber(more)} more characters${where}</span>`;
}

/** Of a longer message these are shown at first. */
const MAX_LINES = 20;
const MAX_LENGTH = 2000;
/** Less than this is not worth a click. */
const MIN_FOLDED = 400;

/** What somebody said. The end of a long message opens on request, so that it does not fill the page. */
export function saidText(shown: ShownText): Markup {
  const { text } = shown;
  const head = cutAt(text, Math.min(MAX_LENGTH, endOfLine(text, MAX_LINES)));
  const rest = text.slice(head.length);
  if (rest.length < MIN_FOLDED) return html`<p class="said">${text}${moreNote(shown)}</p>`;
  return html`<p class="said">${head}</p><details><summary class="dim">${formatNumber(rest.length)} more characters of this message</summary><p class="said">${rest}${moreNote(shown)}</p></details>`;
}

function endOfLine(text: string, line: number): number {
  let at = -1;
  for (let count = 0; count < line; count += 1) {
    at = text.indexOf('\n', at + 1);
    if (at < 0) return text.length;
  }
  return at;
}
