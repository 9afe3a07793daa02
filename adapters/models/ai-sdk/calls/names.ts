/** Providers accept letters, digits, `_` and `-`, at most 64 of them. */
export function toCallId(callId: string): string {
  return callId.replaceAll(/[^\w-]/g, '_').slice(-64);
}

/**
 * A model may call a tool that it made up. Providers would reject every later request of the conversation because of a
 * name that they don't accept.
 */
export function toToolName(tool: string): string {
  const name = tool.replaceAll(/[^\w-]/g, '_').slice(0, 64);
  return /^[a-z_]/i.test(name) ? name : `_${name}`.slice(0, 64);
}
