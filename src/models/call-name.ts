import type { ToolSpec } from '../ports/model.ts';

/** Between a namespace and a name, and before a number: `functions.memory_recall:0`. */
const SEPARATOR = /[^\w-]+/;
const NUMBER = /^\d*$/;
/** A mark of another format that follows a name: `memory_recall<|channel|>commentary`. */
const CHANNEL = '<|';

/**
 * The name of the offered tool that a call means. Models write names in the style of their training, as in
 * `functions.memory_recall` or `memoryRecall`. A name that fits no tool or several, or that has an action of a tool as in
 * `memory_recall.delete`, stays as it is.
 */
export function offeredName(called: string, offered: readonly Pick<ToolSpec, 'name'>[]): string {
  if (offered.some(({ name }) => name === called)) return called;
  const [written = ''] = called.split(CHANNEL, 1);
  const parts = written
    .split(SEPARATOR)
    .map(bare)
    .filter((part) => !NUMBER.test(part));
  const [only, ...others] = offered.filter(({ name }) => parts.includes(bare(name)));
  const isMeant = only !== undefined && others.length === 0 && bare(only.name) === parts.at(-1);
  return isMeant ? only.name : called;
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}
