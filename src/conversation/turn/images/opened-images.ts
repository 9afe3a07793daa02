import { openedMessage } from '../../../context/view/opened.ts';
import { MESSAGE_OPEN } from '../../../domain/lookups.ts';
import { CHANNEL_LINK } from '../../../domain/message.ts';
import type { ModelMessage, ModelTraits, ToolCall } from '../../../ports/model.ts';
import type { ToolContext } from '../../../tools/define.ts';

/** The images that tools of one turn open. They follow the results of their calls. */
export interface OpenedImages {
  /** What a tool call gets to show images; nothing if the model sees none. */
  listenerFor(call: Pick<ToolCall, 'callId' | 'tool'>): Pick<ToolContext, 'onImages'>;
  after(steps: readonly ModelMessage[]): readonly ModelMessage[];
  /** Shows nothing of this call any more. */
  close(callId: string): void;
}

export function createOpenedImages(traits: Pick<ModelTraits, 'images'>): OpenedImages {
  const opened = new Map<string, ModelMessage>();
  return {
    listenerFor({ callId, tool }) {
      if (!traits.images) return {};
      return {
        onImages(images) {
          // The channel loads what its bot can read, so such a link counts only if it is of a message of the conversation.
          const own = images.filter(({ url }) => tool === MESSAGE_OPEN || !url.startsWith(CHANNEL_LINK));
          if (own.length > 0) opened.set(callId, openedMessage(own));
        },
      };
    },
    after: (steps) =>
      steps.flatMap((message) => {
        if (message.role !== 'tool') return [message];
        return [message, ...message.results.flatMap(({ callId }) => opened.get(callId) ?? [])];
      }),
    close: (callId) => void opened.delete(callId),
  };
}
