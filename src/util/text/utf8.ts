/** The head of a text within this many UTF-8 bytes, ending between characters. */
export function headBytes(text: string, bytes: number): string {
  let end = 0;
  let left = bytes;
  while (end < text.length) {
    const next = end + unitsAt(text, end);
    left -= Buffer.byteLength(text.slice(end, next));
    if (left < 0) break;
    end = next;
  }
  return text.slice(0, end);
}

/** The same from its end. */
export function tailBytes(text: string, bytes: number): string {
  // No character has fewer bytes than UTF-16 units, so checking this much is enough.
  const near = text.slice(beginsAt(text, Math.max(0, text.length - bytes)));
  const surplus = Buffer.byteLength(near) - bytes;
  if (surplus <= 0) return near;
  const cut = headBytes(near, surplus);
  const isExact = Buffer.byteLength(cut) === surplus;
  return near.slice(isExact ? cut.length : cut.length + unitsAt(near, cut.length));
}

/** Two for a surrogate pair. */
function unitsAt(text: string, index: number): number {
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}

function beginsAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return index > 0 && code >= 0xdc00 && code <= 0xdfff ? index + 1 : index;
}
