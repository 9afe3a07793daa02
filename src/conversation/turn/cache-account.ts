import { cacheLossOf, DEFAULT_CACHE_MS } from '../../context/cuts/cache-loss.ts';
import { estimateMessages, estimateRequest } from '../../context/measure/tokens.ts';
import { parsePrint, printOf, type RequestPrint } from '../../context/record/request-print.ts';
import { describe } from '../../domain/errors.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { Assembly, ContextProfile } from '../../ports/engine.ts';
import type { CacheLoss, UsageRow } from '../../ports/journal.ts';
import type { ChatModel, ModelRequest } from '../../ports/model.ts';
import type { Claim } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { yieldToEventLoop } from '../../util/async/event-loop.ts';
import { createRecentMap } from '../../util/recent-map.ts';

/** An answered request, and how the provider counted it. */
export interface SentRequest {
  readonly sent: ModelRequest;
  readonly assembly: Assembly;
  readonly profile: ContextProfile;
  readonly engine: string;
  readonly model: Pick<ChatModel, 'id' | 'traits'>;
  readonly at: number;
  readonly usage: UsageRow;
}

/** Compares each request of a turn with the one before it, and notes what the provider's cache has lost in between. */
export interface CacheAccount {
  /** Called with every answered request of the turn. */
  note(request: SentRequest): void;
  /**
   * Called once the turn is stored and its reply is on the way: nobody waits for this. If it is lost in a crash, the
   * next turn is compared with the one before. Never rejects.
   */
  close(): Promise<void>;
}

export interface CacheAccounts {
  open(claim: Claim, conversation: ConversationKey): CacheAccount;
}

/** For a child, whose cache losses are not reported. */
export const NO_CACHE_ACCOUNT: CacheAccount = { note: () => undefined, close: async () => undefined };

/** Conversations whose last print is remembered; that of another one is read from the store. */
const MAX_REMEMBERED = 500;

interface Remembered {
  /** The epoch of the turn. If the next turn has the next epoch, no other process had one in between. */
  readonly epoch: number;
  readonly print: Promise<RequestPrint | null>;
}

/** One for all conversations of a process. */
export function createCacheAccounts(services: Accounting): CacheAccounts {
  const kept = createRecentMap<number, Remembered>(MAX_REMEMBERED);
  const unexplained = (error: unknown): Closed => {
    services.log.warn('cache.unexplained', { error: describe(error) });
    return { print: null, losses: [] };
  };
  return {
    open({ conversationId, epoch }, conversation) {
      const known = kept.get(conversationId);
      const before = known?.epoch === epoch - 1 ? known.print : readPrint(services, conversationId);
      const noted: SentRequest[] = [];
      return {
        note: (request) => void noted.push(request),
        async close() {
          const last = noted.at(-1);
          if (last === undefined) return;
          const previous = yieldToEventLoop().then(() => before);
          const closing = previous.then((print) => compare(noted, print)).catch(unexplained);
          kept.set(conversationId, { epoch, print: closing.then(({ print }) => print) });
          const { revision } = last.assembly.snapshot.conversation;
          await noteLosses(services, { conversationId, conversation, revision, closed: await closing });
        },
      };
    },
  };
}

type Accounting = Pick<Services, 'store' | 'log' | 'events'>;

/** Started with the turn, so that it is read while the model answers. */
function readPrint({ store, log }: Accounting, conversationId: number): Promise<RequestPrint | null> {
  return store.journal.cache.lastRequest(conversationId).then(parsePrint, (error: unknown) => {
    log.warn('cache.unread', { conversationId, error: describe(error) });
    return null;
  });
}

/** What the requests of a finished turn show. */
interface Closed {
  /** The print of the last request. */
  readonly print: RequestPrint | null;
  readonly losses: readonly (CacheLoss & { readonly model: string })[];
}

function compare(noted: readonly SentRequest[], previous: RequestPrint | null): Closed {
  let print = previous;
  const losses: (CacheLoss & { readonly model: string })[] = [];
  for (const [index, request] of noted.entries()) {
    const now = printed(request, print);
    const loss = print === null ? null : lossOf(print, now, { request, sameTurn: index > 0 });
    if (loss !== null) losses.push({ model: request.model.id, ...loss });
    print = now;
  }
  return { print, losses };
}

interface Closing {
  readonly conversationId: number;
  readonly conversation: ConversationKey;
  readonly revision: number;
  readonly closed: Closed;
}

/** Reports the losses, and stores them with the print for the next turn. */
async function noteLosses(
  { store: { journal }, log, events }: Accounting,
  { conversationId, conversation, revision, closed: { print, losses } }: Closing,
): Promise<void> {
  if (print === null) return;
  for (const loss of losses) events.emit({ kind: 'cache.lost', conversation, ...loss });
  const bare = losses.map(({ cause, tokens }) => ({ cause, tokens }));
  try {
    const note = { print: JSON.stringify(print), losses: bare, at: print.at, revision };
    await journal.cache.note(conversationId, note);
  } catch (error) {
    log.warn('cache.unnoted', { conversationId, error: describe(error) });
  }
}

function printed({ sent, assembly, profile, engine, model, at, usage }: SentRequest, before: RequestPrint | null) {
  const reports = before?.reports === true || usage.cacheReadTokens + usage.cacheWriteTokens > 0;
  const of = { sent, assembly, profile, engine, at, reports };
  return printOf({ ...of, model: model.id, tokensOf: estimateMessages });
}

function lossOf(
  before: RequestPrint,
  now: RequestPrint,
  { request, sameTurn }: { readonly request: SentRequest; readonly sameTurn: boolean },
): CacheLoss | null {
  const { model, usage, sent } = request;
  return cacheLossOf(before, now, {
    sameTurn,
    readTokens: usage.cacheReadTokens,
    cacheMs: model.traits.cacheMs ?? DEFAULT_CACHE_MS,
    tokensUpto: (parts) => tokensUpto(sent, parts),
  });
}

/** Estimated tokens of a request that ends after these of its parts: the tools, the system blocks and the messages. */
function tokensUpto({ tools, system, messages }: ModelRequest, parts: number): number {
  if (parts === 0) return 0;
  const after = Math.max(0, parts - 1 - system.length);
  return estimateRequest({ tools, system: system.slice(0, parts - 1), messages: messages.slice(0, after) });
}
