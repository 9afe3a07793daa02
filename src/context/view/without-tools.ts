import type { ModelMessage } from '../../ports/model.ts';
import { underLabel } from '../../util/text/foreign-text.ts';

/** Describes tool traffic in words, for a model without tools or an agent that no longer has any. */
export function spellOutTools(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.map((message): ModelMessage => {
    switch (message.role) {
      case 'user':
        return message;
      case 'assistant': {
        if (message.calls.length === 0) return message;
        const called = message.calls.map((call) => `(used the tool ${call.tool})`);
        return {
          role: 'assistant',
          text: [message.text, ...called].filter((text) => text !== '').join('\n'),
          calls: [],
        };
      }
      case 'tool': {
        const told = message.results.map((result) =>
          underLabel(`[System: the tool ${result.tool} returned]  `, result.text),
        );
        return { role: 'user', content: [{ kind: 'text', text: told.join('\n') }] };
      }
      default:
        return message satisfies never;
    }
  });
}
