import type { Notice, Notices } from '../bot/adapters.ts';
import type { EventOf, Events } from '../ports/events.ts';
import { eventText } from './event-text.ts';

/** Sends notices about failed replies, settings and progress to listeners, for display in the terminal. */
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
        } else if (event.kind === 'config.rejected' || event.kind === 'config.changed') {
          const settings = settingsText(event);
          if (settings !== null) notify({ kind: 'settings', conversation, text: settings });
        } else if (event.kind !== 'turn.failed' && text !== null) {
          notify({ kind: 'progress', conversation, text: `↳ ${text}` });
        }
      });
    },
  };
}

/** What a person who has just edited the configuration needs to know; null if all of it applies. */
function settingsText(event: EventOf<'config.rejected' | 'config.changed'>): string | null {
  if (event.kind === 'config.rejected') return `The last valid configuration stays in use. ${event.message}`;
  return event.waitsForRestart === ''
    ? null
    : `These changes to ${event.file} need a restart: ${event.waitsForRestart}`;
}
