import type { AttachmentPart } from '../../../src/adapter-kit.ts';
import { hasTextEnding } from '../shared/downloads.ts';
import type { WireAttachment } from './wire.ts';

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

const BY_ENDING: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  mp4: 'video/mp4',
};

/** The declared type, otherwise one derived from the file extension. */
export function mediaTypeOf({ content_type: declared, filename }: WireAttachment): string {
  const type = declared?.split(';')[0]?.trim().toLowerCase();
  if (type) return type;
  const ending = filename.split('.').at(-1)?.toLowerCase() ?? '';
  if (BY_ENDING[ending] !== undefined) return BY_ENDING[ending];
  return hasTextEnding(filename) ? 'text/plain' : 'application/octet-stream';
}

/** Images that are too large, or of a kind that no model reads, appear only by name, like all other files. */
export function isShown(attachment: WireAttachment, imageBytes: number): boolean {
  const type = mediaTypeOf(attachment);
  if (!type.startsWith('image/')) return true;
  return IMAGES.includes(type) && attachment.size <= imageBytes;
}

/**
 * The link works for about a day. An image is fetched when the model is called, and appears by name once its link has
 * expired.
 */
export function toAttachment({ filename, size, url }: WireAttachment, mediaType: string): AttachmentPart {
  return { kind: 'attachment', name: filename, mediaType, sizeBytes: size, reference: url };
}

/** Discord turns long pasted text into a file, so small text files are read like messages. */
export function isReadable(attachment: WireAttachment, textBytes: number): boolean {
  const { filename, size } = attachment;
  const isText = mediaTypeOf(attachment).startsWith('text/') || hasTextEnding(filename);
  return isText && size > 0 && size <= textBytes;
}
