import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Entry } from '../../domain/message.ts';
import type { Assembly, ContextProfile } from '../../ports/engine.ts';
import type { ModelMessage, ModelRequest, SystemBlock, ToolSpec } from '../../ports/model.ts';
import type { Summary } from '../../ports/summary-store.ts';
import { memoize } from '../../util/async/memoize.ts';
import { fittedOf } from '../fit/fit.ts';
import { isReduced } from '../view/reduce.ts';

/** Characters of a hash. Each hash also covers everything before it, as a cached prefix does. */
export const PRINT_LENGTH = 6;

const printSchema = z.object({
  at: z.number(),
  model: z.string(),
  engine: z.string(),
  /** Whether a hook changed the request. */
  hooked: z.boolean(),
  /** Whether the view was above its background threshold, or old tool results and long texts were shortened for it. */
  reduced: z.boolean(),
  /** The newest edit or deletion among the messages. */
  touched: z.number(),
  contextFrom: z.number(),
  /** Keys and hashes of the configured sections. */
  sections: z.array(z.tuple([z.string(), z.string()])),
  layers: z.array(
    z.object({ id: z.string(), level: z.number(), kind: z.enum(['summary', 'gap']), from: z.number(), to: z.number() }),
  ),
  /** The hashes of the tools, the system blocks and the messages, joined. */
  parts: z.string(),
  /** How many of them the next turn repeats: those before the newest message of a person. */
  stableParts: z.int(),
  stableTokens: z.number(),
  totalTokens: z.number(),
  /** Whether the provider has ever reported cached tokens in this conversation. */
  reports: z.boolean(),
});

/** What a request consisted of, in hashes. The next request is compared with it. */
export type RequestPrint = Readonly<z.infer<typeof printSchema>>;
export type LayerPrint = RequestPrint['layers'][number];

/** Null for a print of another version. */
export function parsePrint(text: string | null): RequestPrint | null {
  if (text === null) return null;
  try {
    return printSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

export interface PrintRequest {
  readonly sent: Pick<ModelRequest, 'system' | 'messages' | 'tools'>;
  readonly assembly: Assembly;
  readonly profile: ContextProfile;
  readonly engine: string;
  readonly model: string;
  readonly at: number;
  readonly reports: boolean;
  /** Estimated tokens of some messages. */
  readonly tokensOf: (messages: readonly ModelMessage[]) => number;
}

/** Unchanged parts are hashed once. */
export function printOf(request: PrintRequest): RequestPrint {
  const { sent, assembly, profile, engine, model, at, reports } = request;
  const { conversation, stack, tail } = assembly.snapshot;
  const before = stableCount(sent.messages);
  return {
    at,
    model,
    engine,
    reports,
    hooked: sent.system !== assembly.system || sent.messages !== assembly.messages,
    reduced: assembly.measurement.tier !== 'none' || isShortened(assembly),
    touched: touchedAt(tail),
    contextFrom: conversation.contextFrom,
    sections: sectionsOf(profile),
    layers: stack.map(layerOf),
    parts: partsOf(sent),
    stableParts: 1 + sent.system.length + before,
    stableTokens: assembly.estimatedTokens - request.tokensOf(sent.messages.slice(before)),
    totalTokens: assembly.estimatedTokens,
  };
}

/** Whether anything in it is shorter than in the view of its conversation, or left out. */
function isShortened(assembly: Assembly): boolean {
  const fitted = fittedOf(assembly);
  if (fitted === null) return false;
  const { request, reduction } = fitted;
  return isReduced(reduction) || request.snapshot.omitted.entries > assembly.snapshot.omitted.entries;
}

function touchedAt(tail: readonly Entry[]): number {
  let last = 0;
  for (const { editedAt, redactedAt } of tail) {
    if (editedAt !== null && editedAt > last) last = editedAt;
    if (redactedAt !== null && redactedAt > last) last = redactedAt;
  }
  return last;
}

function layerOf({ id, level, kind, fromSeq, toSeq }: Summary): LayerPrint {
  return { id, level, kind, from: fromSeq, to: toSeq };
}

export function countParts({ parts }: RequestPrint): number {
  return parts.length / PRINT_LENGTH;
}

/** How many parts two requests have in common at their start. */
export function commonParts(one: Pick<RequestPrint, 'parts'>, other: Pick<RequestPrint, 'parts'>): number {
  const [shorter, longer] = one.parts.length < other.parts.length ? [one.parts, other.parts] : [other.parts, one.parts];
  // In most cases all but the last few.
  if (longer.startsWith(shorter)) return shorter.length / PRINT_LENGTH;
  let same = 0;
  while (shorter.charCodeAt(same) === longer.charCodeAt(same)) same += 1;
  return Math.floor(same / PRINT_LENGTH);
}

const sectionsOf = memoize(({ sections }: ContextProfile): RequestPrint['sections'] => {
  let last = '';
  return sections.map(({ key, text }) => {
    last = digest(last + text);
    return [key, last];
  });
}, new WeakMap());

/** The hashes of messages after the same parts. */
interface Chain {
  readonly before: string;
  readonly messages: readonly ModelMessage[];
  readonly hashes: string;
}

/** Keyed by the first message, which stays until the conversation is compacted. */
const chains = new WeakMap<ModelMessage, Chain>();
const catalogues = new WeakMap<readonly ToolSpec[], string>();
/** The hash of a system block after the same parts. */
const blocks = new WeakMap<SystemBlock, { readonly before: string; readonly hash: string }>();
/** A turn needs the hashes of its last request twice. */
const requests = new WeakMap<readonly ModelMessage[], { readonly head: string; readonly parts: string }>();

/** The hash of each part, joined. */
export function partsOf({ tools, system, messages }: PrintRequest['sent']): string {
  let last = catalogues.get(tools) ?? digest(JSON.stringify(tools));
  catalogues.set(tools, last);
  let head = last;
  for (const block of system) {
    last = blockHash(block, last);
    head += last;
  }
  const known = requests.get(messages);
  if (known?.head === head) return known.parts;
  const parts = head + messageChain(messages, last);
  requests.set(messages, { head, parts });
  return parts;
}

function blockHash(block: SystemBlock, before: string): string {
  const known = blocks.get(block);
  if (known?.before === before) return known.hash;
  const hash = digest(before + block.text);
  blocks.set(block, { before, hash });
  return hash;
}

/** The hash of the last part, which covers the whole request. */
export function wholePrint(sent: PrintRequest['sent']): string {
  return partsOf(sent).slice(-PRINT_LENGTH);
}

/**
 * Most messages are those of the request before. Hashing all of them took a fifth of a turn. The newest message and
 * what follows it are not kept, because the next request has others.
 */
function messageChain(messages: readonly ModelMessage[], before: string): string {
  const [first] = messages;
  if (first === undefined) return '';
  const known = chains.get(first);
  const same = known?.before === before ? sameAtStart(known.messages, messages) : 0;
  const hashes = [known?.hashes.slice(0, same * PRINT_LENGTH) ?? ''];
  let last = hashes[0]?.slice(-PRINT_LENGTH) || before;
  for (const message of messages.slice(same)) {
    last = digest(last + JSON.stringify(message));
    hashes.push(last);
  }
  const all = hashes.join('');
  const stable = stableCount(messages);
  if (stable > same) {
    chains.set(first, { before, messages: messages.slice(0, stable), hashes: all.slice(0, stable * PRINT_LENGTH) });
  }
  return all;
}

/** How many messages the next turn repeats: those before the newest message of a person. */
function stableCount(messages: readonly ModelMessage[]): number {
  const newest = messages.findLastIndex(({ role }) => role === 'user');
  return newest < 0 ? messages.length : newest;
}

function sameAtStart(some: readonly ModelMessage[], others: readonly ModelMessage[]): number {
  const length = Math.min(some.length, others.length);
  let same = 0;
  while (same < length && some[same] === others[same]) same += 1;
  return same;
}

function digest(text: string): string {
  return hash('sha1', text, 'base64url').slice(0, PRINT_LENGTH);
}
