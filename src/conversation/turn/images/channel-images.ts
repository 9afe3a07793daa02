import { z } from 'zod';
import { withinRequest } from '../../../context/view/pictures.ts';
import { CHANNEL_LINK, type ConversationKey } from '../../../domain/message.ts';
import type { ChannelTraits, ImageBytes } from '../../../ports/channel.ts';
import type { ModelMessage, UserContent } from '../../../ports/model.ts';
import { inParallel } from '../../../util/async/in-parallel.ts';
import { memoize } from '../../../util/async/memoize.ts';

/** The images of a turn that only its channel can load. Each is loaded once. */
export interface ChannelImages {
  /** The messages with the bytes of such images. Never rejects: an image that cannot be loaded becomes a word. */
  load(messages: readonly ModelMessage[]): Promise<readonly ModelMessage[]>;
}

const MAX_AT_ONCE = 4;
const UNAVAILABLE: UserContent = { kind: 'text', text: '[System: an image could not be loaded]' };

interface Loading {
  readonly channel: { readonly traits: Pick<ChannelTraits, 'loadImage'> } | null;
  readonly conversation: ConversationKey;
  /** Aborted when the turn has to end. */
  readonly signal: AbortSignal;
}

const imageSchema = z.object({ mediaType: z.string().startsWith('image/'), base64: z.string() }).nullable();

export function createChannelImages({ channel, conversation, signal }: Loading): ChannelImages {
  const load = memoize(async (url: string): Promise<ImageBytes | null> => {
    try {
      const link = url.slice(CHANNEL_LINK.length);
      const image = await channel?.traits.loadImage?.({ conversation, link }, { signal });
      return imageSchema.parse(image ?? null);
    } catch {
      return null;
    }
  });
  return {
    async load(messages) {
      const urls = messages.flatMap(linksIn).toReversed();
      if (urls.length === 0) return messages;
      const newestFirst = [...new Set(urls)];
      const images = await inParallel(newestFirst, MAX_AT_ONCE, load);
      const shown = new Map(newestFirst.map((url, index) => [url, shownOf(images[index] ?? null)]));
      return withinRequest(messages.map((message) => withImages(message, shown)));
    },
  };
}

function isLink(part: UserContent): part is Extract<UserContent, { kind: 'image' }> {
  return part.kind === 'image' && part.url.startsWith(CHANNEL_LINK);
}

function linksIn(message: ModelMessage): readonly string[] {
  return message.role === 'user' ? message.content.filter(isLink).map(({ url }) => url) : [];
}

function shownOf(image: ImageBytes | null): UserContent {
  if (image === null) return UNAVAILABLE;
  const { mediaType, base64 } = image;
  return { kind: 'image', mediaType, url: `data:${mediaType};base64,${base64}` };
}

function withImages(message: ModelMessage, shown: ReadonlyMap<string, UserContent>): ModelMessage {
  if (message.role !== 'user' || !message.content.some(isLink)) return message;
  const content = message.content.map((part) => (isLink(part) ? (shown.get(part.url) ?? UNAVAILABLE) : part));
  return { role: 'user', content };
}
