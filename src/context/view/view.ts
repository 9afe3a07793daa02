import { MESSAGE_OPEN } from '../../domain/lookups.ts';
import type { Entry, MemoryId } from '../../domain/message.ts';
import type { AssembleRequest, ContextProfile, Measurement } from '../../ports/engine.ts';
import type { ModelMessage, SystemBlock, ToolSpec, UserContent } from '../../ports/model.ts';
import type { VolatileSection } from '../../ports/sections.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import { memoize } from '../../util/async/memoize.ts';
import { correctionFor } from '../measure/calibration.ts';
import type { Regions } from '../measure/meter.ts';
import { estimateMessages, estimateText, estimateTools } from '../measure/tokens.ts';
import { type Head, headOf } from './cached-head.ts';
import { openedTools } from './catalogue.ts';
import { type EntryMessage, entryMessageOf } from './entry-message.ts';
import type { FixedPrefix, FixedPrefixBuilder } from './fixed-prefix.ts';
import { type Layer, stackBlocks } from './layers.ts';
import { viewOrder } from './order.ts';
import { newestImages, withoutPictures } from './pictures.ts';
import { droppedMessagesText, NO_REDUCTION, type Reduction, shortenMessage } from './reduce.ts';
import { repair } from './repair.ts';
import { spellOutTools } from './without-tools.ts';

/** The input of one model call, and what it consists of. */
export interface View {
  readonly system: readonly SystemBlock[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  readonly regions: Regions;
  /** Tokens of the newest message of a person. */
  readonly askTokens: number;
  readonly prefix: FixedPrefix;
  readonly layers: readonly Layer[];
  /** Keys of the included volatile sections. */
  readonly volatileKeys: readonly string[];
  readonly recalled: readonly MemoryId[];
}

export interface ViewRequest extends Omit<AssembleRequest, 'now'> {
  /** Seq of the message that this one replies to, if its label names it. Default: one nearby in the tail. */
  readonly replySeq?: (entry: Entry) => number | null;
}

/** The whole view of a conversation between two turns. */
export function restingView(profile: ContextProfile, snapshot: ContextSnapshot): ViewRequest {
  return { profile, snapshot, readUpto: snapshot.conversation.nextSeq - 1, volatile: [], steps: [] };
}

/** A view with its measurement. */
export interface Fitted {
  readonly request: ViewRequest;
  readonly view: View;
  readonly measurement: Measurement;
  /** Factor for estimates. */
  readonly correction: number;
  readonly reduction: Reduction;
}

/**
 * Builds the view in the order that suits a provider's cache: tools, sections, stack, tail, and the changing sections
 * together with the newest message of a person. Equal requests give identical bytes.
 */
export function buildView(prefixes: FixedPrefixBuilder, request: ViewRequest, reduction: Reduction): View {
  const { profile, snapshot } = request;
  const correction = correctionFor(snapshot.conversation, profile.modelId);
  const prefix = prefixes.prefix(profile, { correction, share: reduction.fixedShare });
  const opened = prefix.catalogue.form === 'help' ? openedTools(profile.tools, request.steps) : [];
  const dropped = Math.ceil(snapshot.stack.length * reduction.droppedStackShare);
  const layers = prefixes.layers(profile, snapshot.stack, dropped);
  const volatile = volatileWithin(request.volatile, reduction.volatileTokens);
  const tail = buildTail(request, reduction);
  const seen = reduction.images ? request.steps : request.steps.map(withoutPictures);
  const steps = seen.map((step) => shortenMessage(step, reduction.textTokens));
  const written = compose(tail, volatile);
  const spoken = takesTools(profile) ? written : spellOutTools(written);
  return {
    system: [...prefix.blocks, ...stackBlocks(layers)],
    messages: tail.head.concat(repair([...spoken, ...steps])),
    // The same list in every request, so that it is hashed once.
    tools: opened.length === 0 ? prefix.catalogue.tools : [...prefix.catalogue.tools, ...opened],
    regions: {
      fixed: prefix.tokens + estimateTools(opened),
      stack: layers.reduce((sum, layer) => sum + layer.tokens, 0),
      tail: steps.reduce((sum, step) => sum + stepTokens(step), tail.tokens),
      volatile: volatile.reduce((sum, section) => sum + estimateText(section.text), 0),
    },
    askTokens: tail.askTokens,
    prefix,
    layers,
    volatileKeys: volatile.map((section) => section.key),
    recalled: volatile.flatMap((section) => section.memoryIds),
  };
}

/** The sections that fit, in their order. The longest are left out first. */
function volatileWithin(sections: readonly VolatileSection[], maxTokens: number): readonly VolatileSection[] {
  const costs = sections.map((section) => ({ section, tokens: estimateText(section.text) }));
  let left = maxTokens;
  const fitting = new Set<VolatileSection>();
  for (const { section, tokens } of costs.toSorted((a, b) => a.tokens - b.tokens)) {
    left -= tokens;
    if (left >= 0 && section.text.trim() !== '') fitting.add(section);
  }
  return sections.filter((section) => fitting.has(section));
}

function takesTools({ traits, tools }: ContextProfile): boolean {
  return traits.tools && tools.length > 0;
}

interface Tail {
  /** Messages before the entry messages, rendered in an earlier turn. */
  readonly head: readonly ModelMessage[];
  /** Text before the first message that says what is missing; null if nothing is. */
  readonly opening: string | null;
  readonly entryMessages: readonly EntryMessage[];
  /** Index of the newest message of a person; -1 for none. */
  readonly askAt: number;
  readonly images: readonly UserContent[];
  readonly askTokens: number;
  readonly tokens: number;
}

/** A head without missing or shortened entries is the same in every view of the tail. */
function keptHead(request: ViewRequest, reduction: Reduction): Head | null {
  const { snapshot, readUpto, profile } = request;
  const { timeZone } = profile;
  const isWhole = snapshot.omitted.entries === 0 && reduction.droppedTailShare === 0;
  if (!isWhole || Number.isFinite(reduction.textTokens)) return null;
  const replySeq = replySeqIn(request);
  const render = (entries: readonly Entry[]) => {
    const ordered = viewOrder(entries, Number.POSITIVE_INFINITY);
    const entryMessages = ordered.map((entry) =>
      entryMessageOf(entry, { stubBytes: null, textTokens: reduction.textTokens, replySeq, timeZone }),
    );
    const composed = compose({ opening: null, entryMessages, askAt: -1, images: [] }, []);
    return { messages: repair(composed), tokens: tokensOf(entryMessages) };
  };
  return headOf(snapshot.tail, readUpto, { timeZone, render });
}

/** Renders and caches an entry. */
export function renderEntry(entry: Entry, tail: readonly Entry[], timeZone: string): void {
  entryMessageOf(entry, { stubBytes: null, textTokens: NO_REDUCTION.textTokens, replySeq: nearbySeq(tail), timeZone });
}

function tokensOf(entryMessages: readonly EntryMessage[]): number {
  return entryMessages.reduce((sum, entryMessage) => sum + entryMessage.tokens, 0);
}

function buildTail(request: ViewRequest, reduction: Reduction): Tail {
  const { snapshot, profile } = request;
  const head = keptHead(request, reduction);
  const { shown, entryMessages, askAt, dropped } = layOut(request, reduction, head?.entries ?? 0);
  const images =
    reduction.images && profile.traits.images ? newestImages(shown.slice(runStart(shown, askAt), askAt + 1)) : [];
  const missing = dropped + snapshot.omitted.entries;
  const opening = missing === 0 ? null : droppedMessagesText(missing);
  const spoken = (head?.tokens ?? 0) + tokensOf(entryMessages) + estimateText(opening ?? '');
  const tokens = spoken + estimateMessages(images.length === 0 ? [] : [{ role: 'user', content: images }]);
  const askTokens = entryMessages[askAt]?.tokens ?? 0;
  return { head: head?.messages ?? [], opening, entryMessages, askAt, images, askTokens, tokens };
}

/** Entries of the tail as the model sees them. */
export interface LaidOut {
  readonly shown: readonly Entry[];
  /** One for each of them. */
  readonly entryMessages: readonly EntryMessage[];
  /** Index of the newest message of a person; -1 for none. */
  readonly askAt: number;
  /** Number of entries before them that are left out. */
  readonly dropped: number;
}

/** The tail without its first `skipped` entries. */
export function layOut(request: ViewRequest, reduction: Reduction, skipped = 0): LaidOut {
  const { snapshot, readUpto, profile } = request;
  const ordered = viewOrder(skipped === 0 ? snapshot.tail : snapshot.tail.slice(skipped), readUpto);
  const newest = ordered.findLastIndex((entry) => entry.role === 'user');
  const dropped = wholeGroups(ordered, Math.floor(Math.max(0, newest) * reduction.droppedTailShare));
  const shown = dropped === 0 ? ordered : ordered.slice(dropped);
  const askAt = newest < 0 ? -1 : newest - dropped;
  const stubBefore = stubLimit(shown, reduction, profile);
  const replySeq = replySeqIn(request);
  const opens = profile.tools.some(({ name }) => name === MESSAGE_OPEN);
  const entryMessages = shown.map((entry, index) =>
    entryMessageOf(entry, {
      stubBytes: index < stubBefore ? profile.toolResults.oldBytes : null,
      textTokens: index === askAt ? reduction.askTokens : reduction.textTokens,
      replySeq,
      timeZone: profile.timeZone,
      opens,
    }),
  );
  return { shown, entryMessages, askAt, dropped };
}

/** This many entries, plus the results of calls among them, because a call without its results is useless. */
function wholeGroups(ordered: readonly Entry[], count: number): number {
  let end = count;
  while (end > 0 && ordered[end]?.role === 'tool') end += 1;
  return end;
}

/** Index from which tool traffic is whole: in the newest turns, and after later reductions in no stored turn. */
function stubLimit(shown: readonly Entry[], { stubs }: Reduction, { toolResults }: ContextProfile): number {
  if (stubs === 'none') return 0;
  return stubs === 'all' ? shown.length : recentTurnsFrom(shown, toolResults);
}

/** Index from which the first reduction keeps tool traffic whole. */
export function recentTurnsFrom(
  shown: readonly Entry[],
  { recentTurns }: ContextProfile['toolResults'],
  { start, end } = { start: 0, end: shown.length },
): number {
  const turns = new Set<number | null>();
  for (let index = end - 1; index >= start; index -= 1) {
    const entry = shown[index];
    if (entry !== undefined && entry.role !== 'user') turns.add(entry.turn);
    if (turns.size > recentTurns) return index + 1;
  }
  return start;
}

/** How far back to look for the target of a reply. Beyond that, the message does not mention it. */
const NEARBY = 200;

function replySeqIn({ replySeq, snapshot }: ViewRequest): (entry: Entry) => number | null {
  return replySeq ?? nearbySeq(snapshot.tail);
}

export function nearbySeq(tail: readonly Entry[]): (entry: Entry) => number | null {
  const first = tail[0]?.seq ?? 0;
  return ({ replyTo, seq }) => {
    if (replyTo === null) return null;
    const near = tail.slice(Math.max(0, seq - first - NEARBY), Math.max(0, seq - first));
    return near.find((entry) => entry.externalId === replyTo)?.seq ?? null;
  };
}

/** Start of the run of people's messages that ends at `index`. */
function runStart(shown: readonly Entry[], index: number): number {
  let start = index;
  while (start > 0 && shown[start - 1]?.role === 'user') start -= 1;
  return Math.max(0, start);
}

/** Joins adjacent messages of people, and puts the volatile sections right before the newest one. */
function compose(
  tail: Pick<Tail, 'opening' | 'entryMessages' | 'askAt' | 'images'>,
  volatile: readonly VolatileSection[],
): readonly ModelMessage[] {
  const messages: ModelMessage[] = [];
  let run: EntryMessage[] = [];
  const extras = volatile.map((section): UserContent => ({ kind: 'text', text: section.text }));
  const close = (): void => {
    if (run.length > 0) messages.push(joined(run));
    run = [];
  };
  if (tail.opening !== null) run.push(openingMessage(tail.opening));
  tail.entryMessages.forEach((entryMessage, index) => {
    if (entryMessage.line === null) close();
    if (entryMessage.line === null) messages.push(entryMessage.message);
    else run.push(entryMessage);
    if (index !== tail.askAt) return;
    const before = run.slice(0, -1);
    const content = [
      ...(before.length > 0 ? textContent(before) : []),
      ...extras,
      ...textContent([entryMessage]),
      ...tail.images,
    ];
    messages.push({ role: 'user', content });
    run = [];
  });
  close();
  if (tail.askAt < 0 && extras.length > 0) messages.push({ role: 'user', content: extras });
  return messages;
}

function openingMessage(text: string): EntryMessage {
  return { message: { role: 'user', content: [{ kind: 'text', text }] }, line: text, tokens: 0, replySeq: null };
}

function joined(run: readonly EntryMessage[]): ModelMessage {
  const [only] = run;
  return run.length === 1 && only !== undefined ? only.message : { role: 'user', content: textContent(run) };
}

function textContent(run: readonly EntryMessage[]): readonly UserContent[] {
  return [{ kind: 'text', text: run.map((entryMessage) => entryMessage.line).join('\n') }];
}

const stepTokens = memoize((step: ModelMessage) => estimateMessages([step]), new WeakMap());
