import type { Post } from '../../../../src/adapter-kit.ts';
import { splitWithoutFiles } from './split.ts';

/** The words matter more than their form. Each message is a post of its own, so that it is made once. */
export function withoutFile(post: Post): readonly Post[] {
  return splitWithoutFiles(post.body.text).map((text, index) => ({
    ...post,
    nonce: `${post.nonce}-${index}`,
    body: { kind: 'text', text },
    replyTo: index === 0 ? post.replyTo : null,
  }));
}
