import { z } from 'zod';
import type { View } from '../context/view/view.ts';
import { shapes } from '../hooks/shapes.ts';

const listSchema = z.array(z.union([z.tuple([z.int().min(0), z.int().min(1)]), z.record(z.string(), z.json())]));
const changeSchema = z.strictObject({ system: listSchema.exactOptional(), messages: listSchema.exactOptional() });
type List = z.infer<typeof listSchema>;

export interface ChangedContent extends Pick<View, 'system' | 'messages'> {
  /** What hooks wrote, for people. */
  readonly written: string;
}

/** The content after the change that `changeText` has kept; null if the text is damaged. */
export function applyChange(view: Pick<View, 'system' | 'messages'>, text: string): ChangedContent | null {
  const change = changeSchema.safeParse(jsonOf(text)).data;
  if (change === undefined) return null;
  const { system = [[0, view.system.length]], messages = [[0, view.messages.length]] } = change;
  const parsed = shapes.model.change.safeParse({
    system: listOf(view.system, system),
    messages: listOf(view.messages, messages),
  });
  if (!parsed.success) return null;
  const written = [...system, ...messages].filter((item) => !Array.isArray(item));
  return {
    system: change.system === undefined ? view.system : (parsed.data.system ?? []),
    messages: change.messages === undefined ? view.messages : (parsed.data.messages ?? []),
    written: written.map((item) => JSON.stringify(item)).join('\n'),
  };
}

function listOf(items: readonly object[], list: List): readonly object[] {
  return list.flatMap((item) => {
    if (!Array.isArray(item)) return [item];
    const [start, count] = item;
    return items.slice(start, start + count);
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
