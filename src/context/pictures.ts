import { type AttachmentPart, CHANNEL_LINK, type Part } from '../domain/message.ts';
import type { ModelMessage, UserContent } from '../ports/model.ts';

/** An image whose bytes a model can get: from a link, from the channel, or as they are stored. */
export function isPicture(part: Part): part is AttachmentPart {
  return (
    part.kind === 'attachment' &&
    part.mediaType.startsWith('image/') &&
    (/^https?:/.test(part.reference) || ['data:image/', CHANNEL_LINK].some((start) => part.reference.startsWith(start)))
  );
}

/** Replaces an image that the window has no room for. */
export const LEFT_OUT: UserContent = { kind: 'text', text: '[System: an image is left out here to save space]' };

export function withoutPictures(message: ModelMessage): ModelMessage {
  if (message.role !== 'user' || message.content.every(({ kind }) => kind === 'text')) return message;
  return { role: 'user', content: message.content.map((part) => (part.kind === 'image' ? LEFT_OUT : part)) };
}
