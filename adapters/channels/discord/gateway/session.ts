import { describe } from '../../../../src/adapter-kit.ts';
import { beatOf, type Frame, OPCODES, readFrame, readReady } from './frames.ts';
import {
  type Ending,
  end,
  endingOf,
  type GatewaySessionOptions,
  type Line,
  NORMAL,
  newLine,
  notOpened,
  openSocket,
  send,
  watch,
} from './line.ts';

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
  const line = newLine(options, socket);
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  // Some servers send their JSON as binary frames.
  socket.on('message', (data) => receive(line, String(data)));
  socket.on('error', (error) => {
    line.cause ??= describe(error);
  });
  socket.on('close', (code, reason) => closed.resolve({ code, reason: reason.toString() }));
  const stop = () => end(line, { cause: 'the bot is stopping', code: NORMAL });
  if (options.signal.aborted) stop();
  options.signal.addEventListener('abort', stop, { once: true });
  watch(line, 'hello', ANSWER_MS);
  const { code, reason } = await closed.promise;
  options.signal.removeEventListener('abort', stop);
  line.over.abort();
  return endingOf(line, { code, reason });
}

function receive(line: Line, text: string): void {
  if (line.over.signal.aborted) return;
  line.heardAt = line.parts.clock.now();
  const frame = readFrame(text);
  if (frame === null) line.parts.listener.odd('a frame is not valid gateway JSON');
  else ANSWERS[frame.op]?.(line, frame);
}

const ANSWERS: Readonly<Record<number, (line: Line, frame: Frame) => void>> = {
  [OPCODES.hello]: (line, { d }) => greet(line, d),
  [OPCODES.dispatch]: take,
  [OPCODES.heartbeat]: beat,
  [OPCODES.reconnect]: (line) => end(line, { cause: 'the server asked for a new connection' }),
  [OPCODES.invalidSession](line, { d }) {
    line.isUnknown = true;
    if (d !== true) line.session = null;
    end(line, { cause: 'the server does not know the session' });
  },
};

function greet(line: Line, hello: unknown): void {
  if (line.phase !== 'hello') return;
  const { parts, session } = line;
  line.beatMs = beatOf(hello);
  keepBeating(line).catch(() => undefined);
  if (session === null) {
    line.phase = 'identifying';
    identify(line).catch((error: unknown) => end(line, { cause: describe(error) }));
    return;
  }
  line.phase = 'resuming';
  watch(line, 'resuming', ANSWER_MS);
  const { id, sequence } = session;
  send(line, OPCODES.resume, { token: parts.identity.token, session_id: id, seq: sequence });
}

async function identify(line: Line): Promise<void> {
  await line.parts.mayIdentify(line.over.signal);
  if (line.over.signal.aborted) return;
  line.isSpent = true;
  send(line, OPCODES.identify, line.parts.identity);
  watch(line, 'identifying', ANSWER_MS);
}

/** The first heartbeat comes after a random delay, so that many bots do not send theirs at the same time. */
async function keepBeating(line: Line): Promise<void> {
  const { clock } = line.parts;
  const { signal } = line.over;
  for (let waitMs = line.beatMs * line.parts.chance(); !signal.aborted; waitMs = line.beatMs) {
    await clock.sleep(waitMs, { signal });
    // A late acknowledgement does no harm: any traffic shows that the connection is alive.
    // A clock that was set back would hide the silence of a dead connection.
    line.heardAt = Math.min(line.heardAt, clock.now());
    if (clock.now() - line.heardAt > line.beatMs + SILENCE_MS)
      return end(line, { cause: 'the server stopped sending' });
    beat(line);
  }
}

function beat(line: Line): void {
  send(line, OPCODES.heartbeat, line.session?.sequence ?? null);
}

function take(line: Line, frame: Frame): void {
  const { listener } = line.parts;
  if (line.phase === 'resuming') line.isAnswered = true;
  if (frame.t === 'READY') begin(line, frame);
  else if (line.phase !== 'identifying') pass(line, frame);
  else if (line.early.length < MAX_EARLY) line.early.push(frame);
  else listener.odd('too many events arrived before READY');
}

function pass(line: Line, frame: Frame): void {
  const { listener, clock } = line.parts;
  count(line, frame);
  if (frame.t === 'RESUMED') {
    line.phase = 'ready';
    line.readyAt ??= clock.now();
    listener.resumed();
  }
  listener.dispatch(frame);
}

function begin(line: Line, frame: Frame): void {
  const { listener, clock } = line.parts;
  const ready = readReady(frame.d);
  if (ready === null) {
    line.session = null;
    listener.odd('READY does not identify the bot');
    end(line, { cause: 'READY is unreadable' });
    return;
  }
  const { session_id: id, resume_gateway_url: resumeUrl } = ready;
  line.session = id ? { id, sequence: frame.s ?? 0, resumeUrl: resumeUrl || null } : null;
  line.phase = 'ready';
  line.readyAt = clock.now();
  listener.ready(ready);
  listener.dispatch({ ...frame, d: ready });
  for (const early of line.early.splice(0)) pass(line, early);
}

/** A repeated or missing number changes nothing. */
function count(line: Line, { s }: Frame): void {
  if (line.session !== null && typeof s === 'number' && s > line.session.sequence) {
    line.session = { ...line.session, sequence: s };
  }
}
