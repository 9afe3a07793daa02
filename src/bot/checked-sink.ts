import type { ChannelSink } from '../ports/channel.ts';
import { checkCall, checkMessage } from './message-shape.ts';

/** Refuses what the compiler refuses, for channels and programs without types. */
export function checkedSink(sink: ChannelSink): ChannelSink {
  return {
    ...sink,
    async message(message) {
      checkMessage(message);
      return await sink.message(message);
    },
    async edited(edit) {
      checkCall('edited', edit);
      await sink.edited(edit);
    },
    async removed(removal) {
      checkCall('removed', removal);
      await sink.removed(removal);
    },
    async command(invocation) {
      checkCall('command', invocation);
      return await sink.command(invocation);
    },
    async suggest(invocation, option) {
      checkCall('suggest', invocation, option);
      return await sink.suggest(invocation, option);
    },
    async audienceChanged(conversation, audience) {
      checkCall('audienceChanged', conversation, audience);
      await sink.audienceChanged(conversation, audience);
    },
    async left(place) {
      checkCall('left', place);
      await sink.left(place);
    },
  };
}
