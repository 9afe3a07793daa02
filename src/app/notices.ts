import type { Notice, Notices } from '../bot/adapters.ts';
import type { Events } from '../ports/events.ts';
import { eventText } from './event-text.ts';

/** Sends notices about failed replies and progress to listeners, for display in the terminal. */
export function createNotices(): Notices & { follow(events: Events): void } {
  const listeners = new Set<(notice: Notice) => void>();
  const told = new Set<string>();
  const tell = (notice: Notice): void => {
    for (const listener of listeners) listener(notice);
  };
  return {
    listen(listener) {
      listeners.add(listener);
    },
    follow(events) {
      events.on((event) => {
        const { conversation } = event;
        const text = eventText(event);
        if (event.kind === 'model.called' && event.purpose === 'reply') told.clear();
        if (event.kind === 'turn.failed' && !told.has(event.message)) {
          told.add(event.message);
          tell({ kind: 'trouble', conversation, text: `The reply failed: ${event.message}` });
        } else if (event.kind !== 'turn.failed' && text !== null) {
          tell({ kind: 'progress', conversation, text: `↳ ${text}` });
        }
      });
    },
  };
}
