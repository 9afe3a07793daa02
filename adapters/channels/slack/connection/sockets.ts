import { type Receiver, SocketModeReceiver } from '@slack/bolt';
import { type ChannelSink, type Clock, describe, type Log, StrataError } from '../../../../src/adapter-kit.ts';
import type { SlackSettings } from '../settings.ts';
import { clientOptions, codeOf, outageOf, reachingPauseMs, slackLogger } from '../web/web.ts';
import { guardSocket, reportMalformed } from './packets.ts';
import { throughProxy } from './proxied.ts';
import { DELIVERY } from './replays.ts';

interface SocketOptions {
  readonly settings: SlackSettings;
  readonly listener: SocketListener;
  readonly sink: Pick<ChannelSink, 'dropped'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Slack has permanently refused the app token: no socket is open, and none will be tried. */
  readonly onRefused: (error: StrataError) => void;
}

interface SocketListener {
  /** Connected again after a time without any connection, so events may have been missed. */
  connected(): void;
  /** No connection is open. */
  lost(): void;
}

/** A socket without a response to a ping within this time is closed. */
const PING_TIMEOUT_MS = 3_000;

/**
 * Several sockets at once: Slack sends each event to one of them, so events still arrive while another one reconnects.
 */
export function createSockets(options: SocketOptions): Receiver {
  const open = new Set<object>();
  const over = new AbortController();
  const giveUp = (error: StrataError): void => {
    over.abort();
    options.onRefused(error);
  };
  const sockets = Array.from({ length: options.settings.sockets }, () =>
    createSocket(options, { open, signal: over.signal, giveUp }),
  );
  return {
    init: (app) => {
      for (const socket of sockets) socket.receiver.init(app);
    },
    start: async () => {
      const [first, ...others] = sockets;
      await first?.open();
      for (const socket of others) socket.reopen();
    },
    stop: async () => {
      over.abort();
      await Promise.all(
        sockets.map(({ receiver }) => (open.has(receiver) ? receiver.stop() : hangUp(receiver.client))),
      );
    },
  };
}

interface Socket {
  readonly receiver: SocketModeReceiver;
  /** Retries until it is open, or until the sockets are stopped. Rejects if Slack refuses permanently. */
  open(): Promise<void>;
  /** The same in the background. */
  reopen(): void;
}

interface All {
  readonly open: Set<object>;
  readonly signal: AbortSignal;
  readonly giveUp: (error: StrataError) => void;
}

/**
 * The library waits for seconds before it reopens a lost socket, and gives up permanently if Slack is unreachable then,
 * so its reconnection is disabled.
 */
function createSocket(options: SocketOptions, { open: opened, signal, giveUp }: All): Socket {
  const { listener, log, clock } = options;
  let reason: string | null = null;
  const onLeaving = (given: string): void => {
    reason = given;
  };
  const receiver = createReceiver({ ...options, signal }, onLeaving);
  const life = createLife(clock);
  let isOpening = false;
  const open = () => openOne(options, { receiver, opened, signal });
  const reopen = (): void => {
    if (isOpening || signal.aborted) return;
    isOpening = true;
    const rested = clock.sleep(life.pauseMs(), { signal }).catch(() => undefined);
    rested
      .then(open)
      .catch((error: unknown) => {
        if (error instanceof StrataError) giveUp(error);
        else log.error('Stopped reopening a Slack socket', { cause: describe(error) });
      })
      .finally(() => {
        isOpening = false;
        // Lost again before it was noticed as open.
        if (!opened.has(receiver)) reopen();
      });
  };
  limitOpening(receiver.client, clock);
  receiver.client.on('connected', () => {
    const wasAlone = opened.size === 0;
    opened.add(receiver);
    life.begun();
    if (wasAlone) listener.connected();
  });
  receiver.client.on('disconnected', () => {
    if (!opened.delete(receiver)) return;
    if (!signal.aborted) log.info('A Slack socket was closed', { reason, open: opened.size });
    reason = null;
    life.ended();
    if (opened.size === 0) listener.lost();
    reopen();
  });
  return { receiver, open, reopen };
}

/** A socket that is closed sooner than this was of no use. */
const MIN_LIFE_MS = 10_000;

/** A lost socket is reopened at once, but not again and again if Slack closes each soon after it has opened. */
function createLife(clock: Clock) {
  let openedAt = 0;
  let short = 0;
  return {
    begun() {
      openedAt = clock.now();
    },
    ended() {
      short = clock.now() - openedAt < MIN_LIFE_MS ? short + 1 : 0;
    },
    pauseMs: () => (short < 2 ? 0 : reachingPauseMs(null, short - 2)),
  };
}

function createReceiver(
  { settings, sink, log, signal }: SocketOptions & Pick<All, 'signal'>,
  onLeaving: (reason: string) => void,
): SocketModeReceiver {
  const receiver = new SocketModeReceiver({
    appToken: settings.app_token ?? '',
    clientPingTimeout: PING_TIMEOUT_MS,
    autoReconnectEnabled: false,
    ...throughProxy(),
    logger: slackLogger(log),
    installerOptions: { clientOptions: clientOptions({ settings, log, signal }) },
    customPropertiesExtractor: ({ envelope_id: id }) => ({ [DELIVERY]: id }),
  });
  guardSocket(receiver.client, { onMalformed: reportMalformed(sink), onLeaving });
  return receiver;
}

async function openOne(
  { clock, log }: SocketOptions,
  {
    receiver,
    opened,
    signal,
  }: { readonly receiver: SocketModeReceiver; readonly opened: ReadonlySet<object>; readonly signal: AbortSignal },
): Promise<void> {
  let wasRefused = false;
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      await receiver.start();
      return;
    } catch (error) {
      if (signal.aborted) return;
      const refused = refusal(error);
      // As long as another socket is open, events still arrive. A single refusal may be a fault of Slack.
      if (refused !== null && wasRefused && opened.size === 0) throw refused;
      wasRefused = refused !== null;
      // The library rejects with nothing when a socket ends before it is open.
      const cause = error === undefined ? 'Slack ended the connection, or sent nothing' : outageOf(error);
      log.warn('A Slack socket could not be opened; trying again', { attempt, cause });
      await clock.sleep(reachingPauseMs(error, attempt), { signal }).catch(() => undefined);
    }
  }
}

/** Time limit for the upgrade and Slack's first packet. */
const HELLO_WITHIN_MS = 10_000;

/** The library waits for the first packet without a limit. */
function limitOpening(client: SocketModeReceiver['client'], clock: Clock): void {
  let opening = new AbortController();
  client.on('connecting', () => {
    opening = new AbortController();
    clock.sleep(HELLO_WITHIN_MS, { signal: opening.signal }).then(
      () => hangUp(client),
      () => undefined,
    );
  });
  for (const end of ['connected', 'disconnected']) client.on(end, () => opening.abort());
}

/**
 * The library asks the other side to close first and waits half a minute for it, even if there is no connection yet. It
 * ends a connection that is closing at once.
 */
function hangUp(client: SocketModeReceiver['client']): void {
  for (const _ of ['ask', 'end']) client.disconnect().catch(() => undefined);
}

const REFUSED = new Set([
  'invalid_auth',
  'not_authed',
  'not_allowed_token_type',
  'account_inactive',
  'token_revoked',
  'missing_scope',
]);

function refusal(error: unknown): StrataError | null {
  const code = codeOf(error);
  if (code === null || !REFUSED.has(code)) return null;
  return new StrataError(
    'PLATFORM_REFUSED',
    {
      platform: 'Slack',
      reason: `the app token is invalid (${code})`,
      remedy: 'Create an app-level token (xapp-) with the scope connections:write and set app_token',
    },
    { cause: error },
  );
}
