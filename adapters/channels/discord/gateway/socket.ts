import https from 'node:https';
import { WebSocket } from 'ws';
import { type Clock, describe, isProxied } from '../../../../src/adapter-kit.ts';
import type { Frame, Ready } from './frames.ts';

const HANDSHAKE_MS = 15_000;
/** How long to wait for the server's close frame. */
const CLOSING_MS = 1_000;
const MAX_FRAME_BYTES = 64_000_000;

/** What is needed to resume after a connection has ended. */
export interface Session {
  readonly id: string;
  readonly sequence: number;
  /** Null if the server named none. */
  readonly resumeUrl: string | null;
}

export interface Ending {
  /** The close code; null if no connection was established. */
  readonly code: number | null;
  readonly cause: string;
  /** Null if there is nothing to resume. */
  readonly session: Session | null;
  /** Whether an identification was sent. */
  readonly isSpent: boolean;
  /** How long the connection was ready, in milliseconds; 0 if it never was. */
  readonly readyMs: number;
  /** Nothing was received after the attempt to resume. */
  readonly isResumeUnanswered: boolean;
  /** The server does not know the session. */
  readonly isUnknown: boolean;
}

export interface GatewaySessionOptions {
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly chance: () => number;
  /** The gateway URL, with version and encoding. */
  readonly url: string;
  /** Null starts a new session. */
  readonly resumed: Session | null;
  /** The identification, without resume data. */
  readonly identity: { readonly token: string } & Readonly<Record<string, unknown>>;
  /** Resolves when an identification may be sent. */
  readonly mayIdentify: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  readonly listener: SessionListener;
}

/** None of these may throw. */
export interface SessionListener {
  ready(data: Ready): void;
  resumed(): void;
  /** Events in order; those of a new session only after `ready`. */
  dispatch(frame: Frame): void;
  /** Discord sent something unreadable. */
  odd(problem: string): void;
}

export type Phase = 'hello' | 'identifying' | 'resuming' | 'ready';

export interface GatewayConnection {
  readonly options: GatewaySessionOptions;
  readonly socket: WebSocket;
  /** Aborted when the connection is over or is being closed. */
  readonly over: AbortController;
  readonly early: Frame[];
  phase: Phase;
  session: Session | null;
  isSpent: boolean;
  isAnswered: boolean;
  isUnknown: boolean;
  beatMs: number;
  heardAt: number;
  readyAt: number | null;
  cause: string | null;
}

export function openSocket(url: string): WebSocket | string {
  try {
    // By itself, the library connects directly.
    const proxied = isProxied() && url.startsWith('wss:') ? { agent: https.globalAgent } : {};
    return new WebSocket(url, { handshakeTimeout: HANDSHAKE_MS, maxPayload: MAX_FRAME_BYTES, ...proxied });
  } catch (error) {
    return describe(error);
  }
}

export function notOpened({ resumed }: GatewaySessionOptions, cause: string): Ending {
  const nothing = { code: null, isSpent: false, readyMs: 0, isUnknown: false, isResumeUnanswered: false };
  return { ...nothing, cause, session: resumed };
}

export function newConnection(options: GatewaySessionOptions, socket: WebSocket): GatewayConnection {
  const state = {
    phase: 'hello',
    isSpent: false,
    isAnswered: false,
    isUnknown: false,
    beatMs: 0,
    readyAt: null,
    cause: null,
  } as const;
  const heardAt = options.clock.now();
  return {
    ...state,
    options,
    socket,
    over: new AbortController(),
    early: [],
    session: options.resumed,
    heardAt,
  };
}

/** Never opened: the library's own code for this. */
const NO_CONNECTION = 1006;

export function endingOf(
  connection: GatewayConnection,
  { code, reason }: { readonly code: number; readonly reason: string },
): Ending {
  const { options, session, isSpent, isAnswered, isUnknown, readyAt, phase, cause } = connection;
  return {
    code: code === NO_CONNECTION && phase === 'hello' ? null : code,
    cause: cause ?? (reason === '' ? 'the connection was closed' : reason),
    session: SESSION_ENDS.has(code) ? null : session,
    isSpent,
    readyMs: readyAt === null ? 0 : options.clock.now() - readyAt,
    isResumeUnanswered: phase === 'resuming' && !isAnswered,
    isUnknown,
  };
}

/** Not authenticated, authenticated twice, invalid sequence, timed out: such a session cannot be resumed. */
const SESSION_ENDS: ReadonlySet<number> = new Set([4003, 4005, 4007, 4009]);
export const NORMAL = 1000;
/** A custom code, because Discord would end the session after 1000 and 1001. */
const RECONNECTING = 4900;

/** The first reason counts. */
export function end(
  connection: GatewayConnection,
  { cause, code = RECONNECTING }: { readonly cause: string; readonly code?: number },
): void {
  if (connection.over.signal.aborted) return;
  connection.over.abort();
  connection.cause = cause;
  const { socket } = connection;
  if (socket.readyState === WebSocket.CONNECTING) socket.terminate();
  else close(connection, code);
}

function close({ socket, options }: GatewayConnection, code: number): void {
  socket.close(code);
  const left = new AbortController();
  socket.once('close', () => left.abort());
  options.clock.sleep(CLOSING_MS, { signal: left.signal }).then(
    () => socket.terminate(),
    () => undefined,
  );
}

/** Closes a connection that stays in one phase for too long. A resuming one may take its time while events arrive. */
export function watch(connection: GatewayConnection, phase: Phase, withinMs: number): void {
  const { clock } = connection.options;
  const look = async () => {
    await clock.sleep(withinMs, { signal: connection.over.signal });
    const isAlive = phase === 'resuming' && connection.isAnswered;
    if (connection.phase === phase && !isAlive) end(connection, { cause: WAITED_FOR[phase] });
  };
  look().catch(() => undefined);
}

const WAITED_FOR: Readonly<Record<Phase, string>> = {
  hello: 'the server sent no hello',
  identifying: 'the server did not answer the identify',
  resuming: 'the server did not answer the resume',
  ready: '',
};

export function send({ socket, over }: GatewayConnection, op: number, d: unknown): void {
  if (over.signal.aborted || socket.readyState !== WebSocket.OPEN) return;
  // An error is reported to the socket's own listener.
  socket.send(JSON.stringify({ op, d }), () => undefined);
}
