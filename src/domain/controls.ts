/** Invisible characters that control a terminal, except line breaks and tabs, and bidirectional overrides. */
const CONTROLS = /[[\p{Cc}\u202a-\u202e\u2066-\u2069]--[\n\t]]/gv;

/** The text as it can be shown anywhere, whoever wrote it. */
export function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(CONTROLS, '');
}

/** JSON with escapes for characters that control a terminal or the direction of writing. It is parsed as before. */
export function escapeControls(json: string): string {
  return json.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
