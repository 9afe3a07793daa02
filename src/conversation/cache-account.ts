import { cacheLossOf, DEFAULT_CACHE_MS } from '../context/cache-loss.ts';
import { parsePrint, printOf, type RequestPrint } from '../context/request-print.ts';
import { estimateBlock, estimateMessages, estimateTools } from '../context/tokens.ts';
import { describe } from '../domain/errors.ts';
import type { Assembly, ContextProfile } from '../ports/engine.ts';
import type { CacheLoss, UsageRow } from '../ports/journal.ts';
import type { ChatModel, ModelRequest } from '../ports/model.ts';
import type { Services } from '../services.ts';

export interface SentRequest {
  readonly sent: ModelRequest;
  readonly assembly: Assembly;
  readonly profile: ContextProfile;
  readonly engine: string;
  readonly model: Pick<ChatModel, 'id' | 'traits'>;
  readonly at: number;
  readonly usage: UsageRow;
}

/** Compares each request of a turn with the one before it, and says what the provider's cache has lost in between. */
export interface CacheAccount {
  /** Called with every answered request of the turn. */
  note(request: SentRequest): void;
  /** The usage of these requests with their losses, and the print that the next turn is compared with. */
  close(): Promise<Closed>;
}

export interface Closed {
  readonly usage: readonly UsageRow[];
  /** Null if the turn has asked no model. */
  readonly request: string | null;
}

/** Reads the print of the previous turn while the model answers. */
export function createCacheAccount({ store, log }: Pick<Services, 'store' | 'log'>, conversationId: number) {
  const reading = store.journal.lastRequest(conversationId).then(parsePrint, (error: unknown) => {
    log.warn('cache.unread', { conversationId, error: describe(error) });
    return null;
  });
  const noted: SentRequest[] = [];
  const account: CacheAccount = {
    note: (request) => void noted.push(request),
    async close() {
      let before = await reading;
      const usage: UsageRow[] = [];
      for (const [index, request] of noted.entries()) {
        const now = printed(request, before);
        const cacheLoss = before === null ? null : lossOf(before, now, { request, sameTurn: index > 0 });
        usage.push({ ...request.usage, cacheLoss });
        before = now;
      }
      return { usage, request: noted.length === 0 ? null : JSON.stringify(before) };
    },
  };
  return account;
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

/** Estimated tokens of the tools, the system blocks and the messages, in this order. */
function tokensUpto({ tools, system, messages }: ModelRequest, parts: number): number {
  if (parts === 0) return 0;
  const blocks = system.slice(0, parts - 1).reduce((sum, block) => sum + estimateBlock(block), estimateTools(tools));
  return blocks + estimateMessages(messages.slice(0, Math.max(0, parts - 1 - system.length)));
}
