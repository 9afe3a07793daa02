import type { App } from '../../app/app.ts';
import { eventText } from '../../app/event-text.ts';
import type { ContextJson } from '../../context/inspection.ts';
import type { ConversationKey } from '../../domain/message.ts';
import { readerIn } from '../../memory/rights/policy.ts';
import type { StrataEvent } from '../../ports/events.ts';
import { MEMORY_STATES } from '../../ports/memory-store.ts';
import { counted, formatNumber, formatPercent } from '../../util/text/text.ts';
import { type Cli, writeJson } from '../cli.ts';

/** Prints what happens to a conversation during a replay. */
export interface Timeline {
  /** Prints what happened since the last message, and the state of the conversation. */
  after(messageId: string): Promise<void>;
  /** Prints the final state. */
  finish(): Promise<void>;
  close(): void;
}

export function createTimeline(
  cli: Cli,
  app: App,
  options: {
    readonly conversation: ConversationKey;
    readonly json: boolean;
    /** Called before each output. */
    readonly onPrint: () => void;
  },
): Timeline {
  let happened: TimelineEvent[] = [];
  const leave = app.services.events.on((event) => {
    if (event.conversation !== options.conversation) return;
    const item = timelineEventOf(event);
    if (item !== null) happened.push(item);
  });
  const print = async (what: readonly TimelineEvent[], message: string | null): Promise<void> => {
    const state = await stateOf(app, options.conversation);
    if (state === null) return;
    options.onPrint();
    for (const item of what) {
      if (options.json) writeJson(cli, { message, ...item.data, event: item.event, ...state });
      else cli.stdout.write(`${lineOf(item, state)}\n`);
    }
  };
  return {
    async after(messageId) {
      const what = happened;
      happened = [];
      if (what.length > 0) await print(what, messageId);
    },
    finish: () => print([...happened.splice(0), { event: 'end', text: 'end', data: {} }], null),
    close: leave,
  };
}

interface TimelineEvent {
  readonly event: StrataEvent['kind'] | 'end';
  readonly text: string;
  readonly data: object;
}

function timelineEventOf(event: StrataEvent): TimelineEvent | null {
  const { kind, at: _at, conversation: _conversation, ...data } = event;
  const text = eventText(event);
  return text === null ? null : { event: kind, text, data };
}

interface State extends Pick<ContextJson, 'entries' | 'tier' | 'used' | 'window'> {
  readonly stack: readonly Pick<ContextJson['stack'][number], 'level' | 'kind' | 'fromSeq' | 'toSeq'>[];
  readonly memories: number;
}

async function stateOf(app: App, key: ConversationKey): Promise<State | null> {
  const { store } = app.services;
  const conversation = await store.conversations.find(key);
  if (conversation === null) return null;
  const { summary } = await app.services.inspect(conversation);
  const reader = readerIn(conversation, app.services);
  const memories = await store.memories.list({ reader, states: MEMORY_STATES, limit: 10_000, offset: 0 });
  return {
    entries: summary.entries,
    tier: summary.tier,
    used: summary.used,
    window: summary.window,
    stack: summary.stack.map(({ level, kind, fromSeq, toSeq }) => ({ level, kind, fromSeq, toSeq })),
    memories: memories.length,
  };
}

function lineOf(item: TimelineEvent, state: State): string {
  const { entries, used, window, stack, memories } = state;
  const levels = stack.map((layer) => (layer.kind === 'gap' ? 'gap' : `L${layer.level}`)).join(' ');
  const use = `~${formatNumber(used)}/${formatNumber(window)} (${formatPercent(used / window)})`;
  return [
    `#${entries}`.padEnd(7),
    item.text.padEnd(44),
    use,
    `[${levels}]`,
    counted(memories, 'memory', 'memories'),
  ].join('  ');
}
