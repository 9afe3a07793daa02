import { type AttachmentPart, CHANNEL_LINK, type Entry, type Part } from '../../domain/message.ts';
import type { ModelMessage, UserContent } from '../../ports/model.ts';

/** An image whose bytes a model can get: from a link, from the channel, or as they are stored. */
export function isPicture(part: Part): part is AttachmentPart {
  return (
    part.kind === 'attachment' &&
    part.mediaType.startsWith('image/') &&
    (/^https?:/.test(part.reference) || ['data:image/', CHANNEL_LINK].some((start) => part.reference.startsWith(start)))
  );
}

const MAX_IMAGES = 20;

/**
 * The images that a request includes: the newest of the messages being answered. Older ones stay references, because
 * links of platforms expire.
 */
export function newestImages(entries: readonly Entry[]): readonly UserContent[] {
  const pictures = entries.flatMap(({ parts }) => parts.filter(isPicture)).slice(-MAX_IMAGES);
  return pictures.map(({ mediaType, reference }) => ({ kind: 'image', mediaType, url: reference }) as const);
}

/** Replaces an image that the window or the request has no room for. */
const LEFT_OUT: UserContent = { kind: 'text', text: '[System: an image is left out here to save space]' };

export function withoutPictures(message: ModelMessage): ModelMessage {
  if (message.role !== 'user' || message.content.every(({ kind }) => kind === 'text')) return message;
  return { role: 'user', content: message.content.map((part) => (part.kind === 'image' ? LEFT_OUT : part)) };
}

/** Providers refuse larger requests, and the process keeps the bytes until the answer is there: 20 MB as base64. */
const MAX_BASE64_LENGTH = 27_000_000;

/** The messages with the newest images only, as many as a request has room for. */
export function withinRequest(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  let left = MAX_BASE64_LENGTH;
  const keep = (part: UserContent): UserContent => {
    if (part.kind !== 'image') return part;
    left -= part.url.length;
    return left < 0 ? LEFT_OUT : part;
  };
  const newestFirst = messages.toReversed().map((message): ModelMessage => {
    if (message.role !== 'user') return message;
    return { role: 'user', content: message.content.toReversed().map(keep).toReversed() };
  });
  return left < 0 ? newestFirst.toReversed() : messages;
}
