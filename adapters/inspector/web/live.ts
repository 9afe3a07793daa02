import { setTimeout as sleep } from 'node:timers/promises';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { gaugeContent } from './pages/conversation-page.ts';
import { healthStrip } from './pages/overview-page.ts';
import { type Broadcasts, type Send, type Topic, withOwnLimit } from './serving/broadcasts.ts';
import type { PageApp, PageContext } from './serving/environment.ts';

export interface LiveOptions {
  readonly broadcasts: Broadcasts;
  /** False once the session of the viewer has ended. */
  readonly isSignedIn: (c: PageContext) => boolean;
  /** A viewer that reads nothing for so long is cut off. */
  readonly stallMs?: number;
}

/** The parts of pages that follow the bot, as server-sent events. */
export function addLive(app: PageApp, given: LiveOptions): void {
  const taken = new Map<string, number>();
  const optionsFor = (c: PageContext): LiveOptions => {
    return { ...given, broadcasts: withOwnLimit(given.broadcasts, c.get('visit').viewer, taken) };
  };
  app.get('/live/health', (c) => {
    const { health } = c.get('inspection');
    return streamTopic(c, optionsFor(c), {
      name: 'health',
      render: async () => String(await healthStrip(await health())),
    });
  });
  app.get('/live/gauge/:key', (c) => {
    const key = c.req.param('key');
    const { viewer } = c.get('visit');
    const { conversations } = c.get('inspection');
    const render = async () => String(await gaugeContent(await conversations.gauge({ viewer, key })));
    return streamTopic(c, optionsFor(c), { name: `gauge ${viewer.role} ${key}`, render });
  });
}

/** Sends the topic as it changes, until the viewer is gone or signed out. */
export async function streamTopic(c: PageContext, options: LiveOptions, topic: Topic): Promise<Response> {
  const { broadcasts, isSignedIn, stallMs = 30_000 } = options;
  // A stream that nobody reads would keep its place.
  if (c.req.method === 'HEAD') return c.body(null);
  const news = createNews();
  const leave = await broadcasts.follow(topic, news.put);
  if (leave === null) return c.text('There are too many viewers.\n', 503);
  return streamSSE(c, async (stream) => {
    stream.onAbort(news.end);
    try {
      for (let text = await news.next(); text !== undefined; text = await news.next()) {
        if (!isSignedIn(c)) break;
        if (await isRead(stream, text, stallMs)) continue;
        c.env.incoming.socket.destroy();
        break;
      }
    } finally {
      leave();
    }
  });
}

interface News {
  readonly put: Send;
  readonly end: () => void;
  /** What has come since the last call, the newest only; undefined at the end. */
  next(): Promise<string | null | undefined>;
}

/** Keeps one text for a viewer that is behind. */
function createNews(): News {
  let newest: string | null | undefined;
  let isOver = false;
  let arrived = Promise.withResolvers<void>();
  return {
    put(text) {
      newest = text ?? newest ?? null;
      arrived.resolve();
    },
    end() {
      isOver = true;
      arrived.resolve();
    },
    async next() {
      await arrived.promise;
      if (isOver) return undefined;
      arrived = Promise.withResolvers();
      const text = newest;
      newest = undefined;
      return text;
    },
  };
}

/** Whether the connection has taken the message in time. Until then, nothing else is written to it. */
async function isRead(stream: SSEStreamingApi, text: string | null, stallMs: number): Promise<boolean> {
  const inTime = new AbortController();
  const late = sleep(stallMs, false, { ref: false, signal: inTime.signal }).catch(() => true);
  const message = text === null ? { event: 'alive', data: '' } : { data: text };
  try {
    return await Promise.race([stream.writeSSE(message).then(() => true), late]);
  } finally {
    inTime.abort();
  }
}
