import { createRecentMap, type Post } from '../../../src/adapter-kit.ts';

const MAX_BEGUN = 100;

/**
 * Posts the words of a file that the platform refuses: they matter more than their form. Each message is a post of its
 * own, so that it is made once.
 */
export type TextPoster = (
  post: Post,
  texts: readonly string[],
  send: (part: Post) => Promise<string>,
) => Promise<string>;

/** Returns the id of the first message. A repeated post continues after what this process has posted of it. */
export function createTextPoster(): TextPoster {
  const begun = createRecentMap<string, string[]>(MAX_BEGUN);
  return async (post, texts, send) => {
    const name = `${post.conversation} ${post.nonce}`;
    const ids = begun.get(name) ?? [];
    begun.set(name, ids);
    for (const part of partsOf(post, texts).slice(ids.length)) ids.push(await send(part));
    begun.delete(name);
    return ids[0] ?? '';
  };
}

function partsOf(post: Post, texts: readonly string[]): readonly Post[] {
  return texts.map((text, index) => ({
    ...post,
    nonce: `${post.nonce}-${index}`,
    body: { kind: 'text', text },
    replyTo: index === 0 ? post.replyTo : null,
  }));
}
