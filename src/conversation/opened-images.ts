import { openedMessage } from '../context/opened.ts';
import type { ModelMessage, ModelTraits } from '../ports/model.ts';
import type { ToolContext } from '../tools/define.ts';

/** The images that tools of one turn open. They follow the results of their calls. */
export interface OpenedImages {
  /** What a tool call gets to show images; nothing if the model sees none. */
  listenerFor(callId: string): Pick<ToolContext, 'onImages'>;
  after(steps: readonly ModelMessage[]): readonly ModelMessage[];
  /** Shows nothing of this call any more. */
  close(callId: string): void;
}

export function createOpenedImages(traits: Pick<ModelTraits, 'images'>): OpenedImages {
  const opened = new Map<string, ModelMessage>();
  return {
    listenerFor(callId) {
      if (!traits.images) return {};
      return {
        onImages(images) {
          opened.set(callId, openedMessage(images));
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
