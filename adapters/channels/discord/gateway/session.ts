import { describe } from '../../../../src/adapter-kit.ts';
import { beatOf, type Frame, OPCODES, readFrame, readReady } from './frames.ts';
import {
  type Ending,
  end,
  endingOf,
  type GatewayConnection,
  type GatewaySessionOptions,
  NORMAL,
  newConnection,
  notOpened,
  openSocket,
  send,
  watch,
} from './socket.ts';

/** Time limit for HELLO, then for READY. */
const ANSWER_MS = 30_000;
/** A connection without traffic for longer than the heartbeat interval plus this is considered dead. */
const SILENCE_MS = 10_000;
/** Maximum events buffered before READY. */
const MAX_EARLY = 1_000;

/** One connection from start to end. Resolves when its socket is closed; never rejects. */
export async function runSession(options: GatewaySessionOptions): Promise<Ending> {
  const socket = openSocket(options.url);
  if (typeof socket === 'string') return notOpened(options, socket);
  const connection = newConnection(options, socket);
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  // Some servers send their JSON as binary frames.
  socket.on('message', (data) => receive(connection, String(data)));
  socket.on('error', (error) => {
    connection.cause ??= describe(error);
  });
  socket.on('close', (code, reason) => closed.resolve({ code, reason: reason.toString() }));
  const stop = () => end(connection, { cause: 'the bot is stopping', code: NORMAL });
  if (options.signal.aborted) stop();
  options.signal.addEventListener('abort', stop, { once: true });
  watch(connection, 'hello', ANSWER_MS);
  const { code, reason } = await closed.promise;
  options.signal.removeEventListener('abort', stop);
  connection.over.abort();
  return endingOf(connection, { code, reason });
}

function receive(connection: GatewayConnection, text: string): void {
  if (connection.over.signal.aborted) return;
  connection.heardAt = connection.options.clock.now();
  const frame = readFrame(text);
  if (frame === null) connection.options.listener.odd('a frame is not valid gateway JSON');
  else ANSWERS[frame.op]?.(connection, frame);
}

const ANSWERS: Readonly<Record<number, (connection: GatewayConnection, frame: Frame) => void>> = {
  [OPCODES.hello]: (connection, { d }) => greet(connection, d),
  [OPCODES.dispatch]: take,
  [OPCODES.heartbeat]: beat,
  [OPCODES.reconnect]: (connection) => end(connection, { cause: 'the server asked for a new connection' }),
  [OPCODES.invalidSession](connection, { d }) {
    connection.isUnknown = true;
    if (d !== true) connection.session = null;
    end(connection, { cause: 'the server does not know the session' });
  },
};

function greet(connection: GatewayConnection, hello: unknown): void {
  if (connection.phase !== 'hello') return;
  const { options, session } = connection;
  connection.beatMs = beatOf(hello);
  keepBeating(connection).catch(() => undefined);
  if (session === null) {
    connection.phase = 'identifying';
    identify(connection).catch((error: unknown) => end(connection, { cause: describe(error) }));
    return;
  }
  connection.phase = 'resuming';
  watch(connection, 'resuming', ANSWER_MS);
  const { id, sequence } = session;
  send(connection, OPCODES.resume, { token: options.identity.token, session_id: id, seq: sequence });
}

async function identify(connection: GatewayConnection): Promise<void> {
  await connection.options.mayIdentify(connection.over.signal);
  if (connection.over.signal.aborted) return;
  connection.isSpent = true;
  send(connection, OPCODES.identify, connection.options.identity);
  watch(connection, 'identifying', ANSWER_MS);
}

/** The first heartbeat comes after a random delay, so that many bots do not send theirs at the same time. */
async function keepBeating(connection: GatewayConnection): Promise<void> {
  const { clock } = connection.options;
  const { signal } = connection.over;
  for (let waitMs = connection.beatMs * connection.options.chance(); !signal.aborted; waitMs = connection.beatMs) {
    await clock.sleep(waitMs, { signal });
    // A clock that was set back would hide the silence of a dead connection.
    connection.heardAt = Math.min(connection.heardAt, clock.now());
    // A late acknowledgement does no harm: any traffic shows that the connection is alive.
    if (clock.now() - connection.heardAt > connection.beatMs + SILENCE_MS)
      return end(connection, { cause: 'the server stopped sending' });
    beat(connection);
  }
}

function beat(connection: GatewayConnection): void {
  send(connection, OPCODES.heartbeat, connection.session?.sequence ?? null);
}

function take(connection: GatewayConnection, frame: Frame): void {
  const { listener } = connection.options;
  if (connection.phase === 'resuming') connection.isAnswered = true;
  if (frame.t === 'READY') begin(connection, frame);
  else if (connection.phase !== 'identifying') pass(connection, frame);
  else if (connection.early.length < MAX_EARLY) connection.early.push(frame);
  else listener.odd('too many events arrived before READY');
}

function pass(connection: GatewayConnection, frame: Frame): void {
  const { listener, clock } = connection.options;
  count(connection, frame);
  if (frame.t === 'RESUMED') {
    connection.phase = 'ready';
    connection.readyAt ??= clock.now();
    listener.resumed();
  }
  listener.dispatch(frame);
}

function begin(connection: GatewayConnection, frame: Frame): void {
  const { listener, clock } = connection.options;
  const ready = readReady(frame.d);
  if (ready === null) {
    connection.session = null;
    listener.odd('READY does not identify the bot');
    end(connection, { cause: 'READY is unreadable' });
    return;
  }
  const { session_id: id, resume_gateway_url: resumeUrl } = ready;
  connection.session = id ? { id, sequence: frame.s ?? 0, resumeUrl: resumeUrl || null } : null;
  connection.phase = 'ready';
  connection.readyAt = clock.now();
  listener.ready(ready);
  listener.dispatch({ ...frame, d: ready });
  for (const early of connection.early.splice(0)) pass(connection, early);
}

/** A repeated or missing number changes nothing. */
function count(connection: GatewayConnection, { s }: Frame): void {
  if (connection.session !== null && typeof s === 'number' && s > connection.session.sequence) {
    connection.session = { ...connection.session, sequence: s };
  }
}
