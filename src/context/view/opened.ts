import type { Entry } from '../../domain/message.ts';
import type { ModelMessage, UserContent } from '../../ports/model.ts';
import { isPicture } from './pictures.ts';

/** An image that a tool shows. */
export interface OpenedImage {
  readonly mediaType: string;
  readonly url: string;
  /** The message of this conversation that it belongs to. Default: none. */
  readonly seq?: number;
}

const HEADING: UserContent = { kind: 'text', text: '[System: the images that the tool opened]' };
const seqs = new WeakMap<ModelMessage, number>();

/** What follows the results of a tool that opened images. */
export function openedMessage(images: readonly OpenedImage[]): ModelMessage {
  const content = images.map(({ mediaType, url }) => ({ kind: 'image', mediaType, url }) as const);
  const message: ModelMessage = { role: 'user', content: [HEADING, ...content] };
  const [seq, ...others] = new Set(images.map((image) => image.seq));
  if (seq !== undefined && others.length === 0) seqs.set(message, seq);
  return message;
}

/** The stored message that all its images are of; null if there is none. */
export function openedSeq(message: ModelMessage): number | null {
  return seqs.get(message) ?? null;
}

export function imagesOf({ seq, parts }: Pick<Entry, 'seq' | 'parts'>): readonly OpenedImage[] {
  return parts.filter(isPicture).map(({ mediaType, reference }) => ({ mediaType, url: reference, seq }));
}
