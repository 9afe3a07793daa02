import { type ModelMessage, type UserContent, withinRequest } from '../../../../src/adapter-kit.ts';

/** The bytes as base64, or null if they are unavailable. */
export type ImageLoader = (
  url: URL,
  signal: AbortSignal,
) => Promise<{ readonly base64: string; readonly mediaType: string | null } | null>;

/**
 * Replaces image links in the messages by their bytes. Platform links expire, and one expired link would make the
 * provider reject every later request of the conversation.
 */
export async function withImages(
  messages: readonly ModelMessage[],
  load: ImageLoader,
  options: { readonly signal: AbortSignal },
): Promise<readonly ModelMessage[]> {
  const inline = async (part: UserContent): Promise<UserContent> => {
    if (part.kind === 'text' || part.url.startsWith('data:') || !URL.canParse(part.url)) return part;
    const image = await load(new URL(part.url), options.signal);
    if (image === null) return part;
    const mediaType = image.mediaType ?? part.mediaType;
    return { kind: 'image', mediaType, url: `data:${mediaType};base64,${image.base64}` };
  };
  const loaded = messages.map(
    async (message): Promise<ModelMessage> =>
      message.role === 'user' ? { role: 'user', content: await Promise.all(message.content.map(inline)) } : message,
  );
  return withinRequest(await Promise.all(loaded));
}

export function hasImage(message: ModelMessage): boolean {
  return message.role === 'user' && message.content.some(({ kind }) => kind === 'image');
}

/** For models without vision, an image becomes a word. */
export function withoutImages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const toWord = (part: UserContent): UserContent =>
    part.kind === 'text' ? part : { kind: 'text', text: `[image, ${part.mediaType}]` };
  return messages.map((message) =>
    message.role === 'user' ? { role: 'user', content: message.content.map(toWord) } : message,
  );
}
