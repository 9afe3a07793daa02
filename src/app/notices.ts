import type { Notice, Notices } from '../bot/adapters.ts';
import type { Events } from '../ports/events.ts';
import { eventText } from './event-text.ts';

/** Sends notices about failed replies and progress to listeners, for display in the terminal. */
export function createNotices(): Notices & { follow(events: Events): void } {
  const listeners = new Set<(notice: Notice) => void>();
  const reported = new Set<string>();
  const notify = (notice: Notice): void => {
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
        if (event.kind === 'model.called' && event.purpose === 'reply') reported.clear();
        if (event.kind === 'turn.failed' && !reported.has(event.message)) {
          reported.add(event.message);
          notify({ kind: 'trouble', conversation, text: `The reply failed: ${event.message}` });
        } else if (event.kind !== 'turn.failed' && text !== null) {
          notify({ kind: 'progress', conversation, text: `↳ ${text}` });
        }
      });
    },
  };
}
