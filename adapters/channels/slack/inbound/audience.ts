import type { Audience, ChannelSink, ConversationKey, Log } from '../../../../src/adapter-kit.ts';
import { keyOf } from '../place.ts';
import { audienceOf, type Places } from '../places.ts';

const MAX_KNOWN = 5_000;

export interface AudienceParts {
  readonly teamId: string;
  readonly sink: ChannelSink;
  readonly places: Places;
  readonly log: Log;
  readonly purgeOnLeave: boolean;
}

/** Keeps the bot told of who can read a conversation, and of places that it was removed from. */
export interface AudienceWatch {
  /** Resolves when the bot knows the audience of a conversation that it may have known otherwise. */
  told(conversation: ConversationKey, audience: Audience): Promise<void>;
  /** A channel may have changed hands: look up again who reads it. */
  changed(channelId: string): Promise<void>;
  left(channelId: string): Promise<void>;
}

export function createAudienceWatch(parts: AudienceParts): AudienceWatch {
  const known = new Map<ConversationKey, Audience>();
  const remember = (conversation: ConversationKey, audience: Audience): void => {
    // Each thread is a conversation. What is no longer known is reported again.
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(conversation, audience);
  };
  /** The channel's own conversation and those of its threads. */
  const inChannel = (channelId: string) =>
    parts.sink.conversations.within(keyOf({ teamId: parts.teamId, channelId, threadTs: null }));
  return {
    async told(conversation, audience) {
      if (known.get(conversation) === audience) return;
      remember(conversation, audience);
      await parts.sink.audienceChanged(conversation, audience);
    },
    async changed(channelId) {
      parts.places.forget(channelId);
      const channel = await parts.places.channel(channelId);
      // Nothing leaves a place that cannot be looked up.
      const audience = channel === null ? 'private' : audienceOf(channel);
      if (channel === null) parts.log.warn('A changed channel could not be read', { channel: channelId });
      for await (const { conversation } of inChannel(channelId)) {
        remember(conversation, audience);
        await parts.sink.audienceChanged(conversation, audience);
      }
    },
    async left(channelId) {
      if (!parts.purgeOnLeave) return;
      for await (const { conversation } of inChannel(channelId)) {
        known.delete(conversation);
        await parts.sink.left(conversation);
      }
    },
  };
}
