import type { ToolSpec } from '../ports/model.ts';

/** Between a namespace and a name, and before a number: `functions.memory_recall:0`. */
const SEPARATOR = /[^\w-]+/;

/**
 * The name of the offered tool that a call means. Models write names in the style of their training, as in
 * `functions.memory_recall` or `memoryRecall`. A name that fits no tool or several stays as it is.
 */
export function offeredName(called: string, offered: readonly Pick<ToolSpec, 'name'>[]): string {
  if (offered.some(({ name }) => name === called)) return called;
  const parts = new Set(called.split(SEPARATOR).map(bare));
  const meant = offered.filter(({ name }) => parts.has(bare(name)));
  return meant.length === 1 && meant[0] !== undefined ? meant[0].name : called;
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}
