import type { ModelRequest } from '../../ports/model.ts';

type Content = Pick<ModelRequest, 'system' | 'messages'>;

/** Items as they were, as the first one and how many, and items that a hook made. */
export type ChangedList = readonly (readonly [start: number, count: number] | object)[];

/** What hooks changed in a request. A list that they left alone is missing. */
export interface RequestChange {
  readonly system?: ChangedList;
  readonly messages?: ChangedList;
}

/** A hook that writes more than this again with each request would double what is stored. */
const MAX_CHARACTERS = 8000;

/** The change as text; null if it is too long to be kept. */
export function changeText(base: Content, sent: Content): string | null {
  const change: RequestChange = {
    ...(sent.system === base.system ? {} : { system: changed(base.system, sent.system) }),
    ...(sent.messages === base.messages ? {} : { messages: changed(base.messages, sent.messages) }),
  };
  const text = JSON.stringify(change);
  return text.length > MAX_CHARACTERS ? null : text;
}

function changed(before: readonly object[], after: readonly object[]): ChangedList {
  const then = before.map((item) => JSON.stringify(item));
  const now = after.map((item) => JSON.stringify(item));
  const indices = new Map(then.map((text, index) => [text, index]));
  const list: (readonly [number, number] | object)[] = [];
  for (let at = 0; at < after.length; ) {
    const start = indices.get(now[at] ?? '');
    let count = 1;
    if (start === undefined) list.push(after[at] ?? {});
    else {
      while (at + count < now.length && now[at + count] === then[start + count]) count += 1;
      list.push([start, count]);
    }
    at += count;
  }
  return list;
}
