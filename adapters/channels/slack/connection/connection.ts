import { App, HTTPReceiver, type Receiver } from '@slack/bolt';
import {
  type ChannelSink,
  type Clock,
  describe,
  type Log,
  receiveWithin,
  type StrataError,
} from '../../../../src/adapter-kit.ts';
import type { OAuthOptions } from '../install/oauth.ts';
import { EVENTS_PATH, INSTALL_PATH } from '../manifest.ts';
import type { SlackSettings } from '../settings.ts';
import { clientOptions, slackLogger } from '../web/web.ts';
import { guarded, RECEIVED_WITHIN_MS } from './http-guard.ts';
import { dropMalformed, isEvent, isReadable, namesOf, reportMalformed, withheldMinute } from './packets.ts';
import { createReplays, DELIVERY, type Replays } from './replays.ts';
import { createSockets } from './sockets.ts';

/** Incoming requests as Slack sent them. Listeners parse everything themselves. */
export interface Listener {
  /** Resolves when the event is durable; after a rejection, Slack sends it again. */
  event(event: unknown, body: unknown): Promise<void>;
  /** Slack withheld the events of a workspace for a minute that began then (in seconds). Resolves when it is noted. */
  withheld(minute: { readonly teamId: string; readonly since: number }): Promise<void>;
  command(body: unknown, acknowledge: Acknowledge): Promise<void>;
  action(body: unknown, acknowledge: Acknowledge): Promise<void>;
  shortcut(body: unknown, acknowledge: Acknowledge): Promise<void>;
  view(body: unknown, acknowledge: Acknowledge): Promise<void>;
  /** Connected again after a time without any connection, so events may have been missed. */
  connected(): void;
  /** No connection is open. */
  lost(): void;
}

export type Acknowledge = () => Promise<void>;

export interface ConnectionOptions {
  readonly settings: SlackSettings;
  /** Null if the app has one token for one workspace. */
  readonly oauth: OAuthOptions | null;
  readonly listener: Listener;
  readonly sink: Pick<ChannelSink, 'dropped'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Slack has permanently refused the app token: no socket is open, and none will be tried. */
  readonly onRefused: (error: StrataError) => void;
}

export interface Connection {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createConnection(options: ConnectionOptions): Connection {
  const { settings, log } = options;
  const heard = new WeakSet<object>();
  const app = new App({
    receiver: durable(createTransport(options), { ...options, heard }),
    clientOptions: clientOptions({ settings, log }),
    logger: slackLogger(log),
    // The code that reads events recognises the bot's own messages.
    ignoreSelf: false,
    // The bot of each workspace knows its own token.
    authorize: async () => ({}),
  });
  listen(app, options.listener, heard);
  return {
    async start() {
      await app.start();
    },
    async stop() {
      await app.stop();
    },
  };
}

interface Gate extends ConnectionOptions {
  /** The bodies of requests that have reached a listener. */
  readonly heard: WeakSet<object>;
}

type RequestKind = 'command' | 'action' | 'shortcut' | 'view';

function listen(app: App, listener: Listener, heard: Gate['heard']): void {
  const pass =
    (kind: RequestKind) =>
    ({ body, ack }: { readonly body: object; readonly ack: Acknowledge }) => {
      heard.add(body);
      return listener[kind](body, () => ack());
    };
  app.command(/.*/, pass('command'));
  app.action(/.*/, pass('action'));
  app.shortcut({ type: 'message_action' }, pass('shortcut'));
  app.view(/.*/, pass('view'));
}

/**
 * Acknowledges an event once it is durable; anything not stored is sent again. Events go to the listener directly,
 * because the library throws for unusual ones. Everything else is handled once, however often the same request arrives.
 */
function durable(inner: Receiver, parts: Gate): Receiver {
  const replays = createReplays(parts.clock);
  return {
    init(app) {
      const gated: App = Object.create(app, {
        processEvent: {
          value: async (event: ReceivedEvent) => {
            if (!isReadable(event.body)) {
              dropMalformed(parts.sink, namesOf(event.body), 'the packet has no readable event');
              return await event.ack();
            }
            if (isEvent(event.body)) return await takeEvent(parts, event);
            const minute = withheldMinute(event.body);
            if (minute !== null) {
              await parts.listener.withheld(minute);
              return await event.ack();
            }
            await takeOnce(replays, event, () => takeRequest(parts, app, event));
          },
        },
      });
      inner.init(gated);
    },
    start: (...parts: unknown[]) => inner.start(...parts),
    stop: (...parts: unknown[]) => inner.stop(...parts),
  };
}

type ReceivedEvent = Parameters<App['processEvent']>[0];

/** Runs a request once. If it could not be acknowledged, the next delivery runs it. */
async function takeOnce(replays: Replays, event: ReceivedEvent, take: () => Promise<void>): Promise<void> {
  const delivery = event.customProperties?.[DELIVERY];
  if (typeof delivery !== 'string') return await take();
  if (!replays.isNew(delivery)) return await event.ack();
  try {
    await take();
  } catch (error) {
    replays.forget(delivery);
    throw error;
  }
}

async function takeEvent({ listener, log }: ConnectionOptions, { body, ack }: ReceivedEvent): Promise<void> {
  try {
    await listener.event(body['event'], body);
  } catch (error) {
    const names = { ...namesOf(body), cause: describe(error) };
    log.error('A Slack event was not stored; Slack will send it again', names);
    throw error;
  }
  await ack();
}

/**
 * A request that reaches no listener is of an unknown kind or shape. It is acknowledged, because a repetition would not
 * reach one either.
 */
async function takeRequest({ sink, log, heard }: Gate, app: App, event: ReceivedEvent): Promise<void> {
  let isAcknowledged = false;
  const ack: ReceivedEvent['ack'] = async (response) => {
    isAcknowledged = true;
    await event.ack(response);
  };
  try {
    await app.processEvent({ ...event, ack });
  } catch (error) {
    if (heard.has(event.body)) {
      log.error('A Slack request was not handled', { ...namesOf(event.body), cause: describe(error) });
      throw error;
    }
  }
  if (isAcknowledged) return;
  dropMalformed(sink, namesOf(event.body), 'nothing handles a request of this kind');
  await event.ack();
}

function createTransport(options: ConnectionOptions): Receiver {
  const { settings, oauth, listener } = options;
  if (settings.transport === 'http')
    return createHttp(options, { endpoint: EVENTS_PATH, onListening: listener.connected });
  const sockets = createSockets(options);
  if (oauth === null) return sockets;
  // Serves only the installation pages: events come through the sockets.
  const pages = createHttp(options, { endpoint: null, onListening: () => undefined });
  return {
    init: (app) => sockets.init(app),
    start: async () => {
      await pages.start();
      await sockets.start();
    },
    stop: async () => {
      await Promise.all([pages.stop(), sockets.stop()]);
    },
  };
}

const SIGNATURE = 'x-slack-signature';

/** The library ignores what follows, so the same request could arrive with several signatures. */
function verifiedPart(signature: unknown): string {
  return String(signature).split('=', 2).join('=');
}

/** Slack counts three seconds; later responses are late, not lost. */
const ANSWER_WITHIN_MS = 10_000;

/** Slack posts its events to `endpoint`. If it is null, the server has only the installation pages. */
function createHttp(
  options: ConnectionOptions,
  { endpoint, onListening }: { readonly endpoint: string | null; readonly onListening: () => void },
): Receiver {
  const { settings, oauth, log } = options;
  const receiver = new HTTPReceiver({
    ...oauth,
    signingSecret: settings.signing_secret ?? '',
    signatureVerification: endpoint !== null,
    endpoints: endpoint === null ? [] : [endpoint],
    customPropertiesExtractor: ({ headers }) => ({ [DELIVERY]: verifiedPart(headers[SIGNATURE]) }),
    logger: slackLogger(log),
    unhandledRequestTimeoutMillis: ANSWER_WITHIN_MS,
  });
  const onMalformed = reportMalformed(options.sink);
  receiver.requestListener = guarded(receiver.requestListener, { onMalformed, clock: options.clock });
  let isStarted = false;
  return {
    init: (app) => receiver.init(app),
    start: async () => {
      const { host, port } = settings.http;
      isStarted = true;
      const server = await receiver.start({ host, port });
      receiveWithin(server, RECEIVED_WITHIN_MS);
      const address = server.address();
      const heard =
        typeof address === 'object' && address !== null ? `${address.address}:${address.port}` : String(address);
      log.info('Listening for Slack', { address: heard, path: endpoint ?? INSTALL_PATH });
      onListening();
    },
    // The library throws if it was not started.
    stop: async () => {
      if (isStarted) await receiver.stop();
    },
  };
}
