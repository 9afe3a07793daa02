import { measure } from '../context/measure/meter.ts';
import { readKeptProfile, readKeptTools } from '../context/profile/keep-profile.ts';
import type { NotedReply } from '../context/record/note-chain.ts';
import type { LayerRef, RequestNote } from '../context/record/request-note.ts';
import { buildPrefix } from '../context/view/fixed-prefix.ts';
import { gapOf, layersOf, makeLayer, summaryVariables, unstoredGap } from '../context/view/layers.ts';
import { imagesOf, openedMessage } from '../context/view/opened.ts';
import { buildView, type Fitted, type ViewRequest } from '../context/view/view.ts';
import { type Entry, type SeqRange, textOf } from '../domain/message.ts';
import type { ContextProfile } from '../ports/engine.ts';
import type { MemoryReader } from '../ports/memory-store.ts';
import type { ModelMessage } from '../ports/model.ts';
import type { Conversation } from '../ports/store.ts';
import type { Summary } from '../ports/summary-store.ts';
import { readableFrom } from '../search/passages/place-passages.ts';
import type { Services } from '../services.ts';
import { applyChange } from './changed.ts';
import { type Gone, goneElsewhere, goneEntry, goneText, withoutContent } from './gone.ts';
import {
  type KeptTexts,
  quoteKey,
  recollect,
  renderKept,
  sectionMemories,
  systemSections,
  volatileSections,
} from './kept-sections.ts';

/** A request as it can be shown now. */
export interface RebuiltRequest {
  readonly fitted: Fitted;
  readonly settings: KeptTexts['profile'];
  readonly note: RequestNote;
  /** What is missing, by `#seq`, or by the id of a summary or memory. */
  readonly gone: ReadonlyMap<string, Gone>;
  /** What hooks wrote into it; null for nothing. */
  readonly written: string | null;
  /** Hooks or tools have changed it, and that is not stored. */
  readonly isAltered: boolean;
}

export interface RebuildOptions {
  readonly conversation: Conversation;
  readonly reply: NotedReply;
  /** Only memories that it may read are shown; null for operators. */
  readonly reader: MemoryReader | null;
}

type Reading = Pick<Services, 'store' | 'prompts'>;
const MAX_CHANGE = 100_000;

/** Rebuilds the request with the code that built it. Null if its settings are no longer stored. */
export async function rebuildRequest(services: Reading, options: RebuildOptions): Promise<RebuiltRequest | null> {
  const { conversation, reply, reader } = options;
  const note = reply.request;
  const settings = await readSettings(services, note);
  if (settings === null) return null;
  const ids = note.sections.flatMap((section) => (section.kind === 'memories' ? section.ids : []));
  const [shown, elsewhere, stack, memories] = await Promise.all([
    readEntries(services, options),
    readElsewhere(services, options),
    readStack(services, conversation, note.layers),
    recollect(services.store.memories, [...ids, ...sectionMemories(settings)], { minute: note.minute, reader }),
  ]);
  const kept: KeptTexts = {
    prompts: services.prompts,
    ...settings,
    memories,
    entries: new Map([...elsewhere.quoted, ...shown.quoted]),
    read: shown.read,
  };
  const gone = new Map([...shown.gone, ...elsewhere.gone, ...stack.gone]);
  for (const [id, { gone: reason }] of memories) if (reason !== null) gone.set(id, reason);
  const profile = profileOf(kept);
  const request: ViewRequest = {
    profile,
    snapshot: {
      conversation: { ...conversation, calibration: null },
      stack: stack.items,
      tail: shown.tail,
      omitted: { entries: note.omitted, tokens: 0 },
    },
    readUpto: reply.turn,
    volatile: volatileSections(kept, note),
    steps: shown.steps,
    replySeq: (entry) => note.links.get(entry.seq) ?? null,
  };
  const fitted = fitRecorded(kept, request, note);
  const base = { settings: settings.profile, note, gone };
  // A change may repeat what is gone.
  const changed = note.change === null || gone.size > 0 ? null : await readChanged(services, options, fitted.view);
  if (changed === null) return { ...base, fitted, written: null, isAltered: note.isAltered };
  const { written, ...content } = changed;
  return { ...base, fitted: { ...fitted, view: { ...fitted.view, ...content } }, written, isAltered: false };
}

async function readChanged({ store }: Reading, { conversation, reply }: RebuildOptions, view: Fitted['view']) {
  const { change } = reply.request;
  if (change === null) return null;
  const range = { conversationId: conversation.id, from: 0, length: MAX_CHANGE };
  const blob = await store.blobs.read(change, range);
  return blob === null ? null : applyChange(view, blob.text);
}

function fitRecorded(kept: KeptTexts, request: ViewRequest, note: RequestNote): Fitted {
  const prefix = buildPrefix(request.profile, note.budgetTokens);
  const textOfLayer = (item: Summary) => {
    if (item.kind === 'gap') return item.text === '' ? gapOf(item) : item.text;
    return renderKept(kept, 'summary', summaryVariables(item));
  };
  const prefixes = {
    prefix: () => prefix,
    layers: (_profile: ContextProfile, stack: readonly Summary[], dropped: number) =>
      layersOf(stack, dropped, (item) => makeLayer(item, textOfLayer(item))),
  };
  const view = buildView(prefixes, request, note.reduction);
  const measurement = measure(view.regions, request.profile, 1);
  return { request, view, measurement, correction: 1, reduction: note.reduction };
}

export function profileOf(kept: KeptTexts): ContextProfile {
  const { agentId, modelId, windowTokens, reserveTokens, thresholds, tools, images, timeZone, toolResults, catalogue } =
    kept.profile;
  return {
    agentId,
    modelId,
    windowTokens,
    reserveTokens,
    thresholds,
    timeZone,
    toolResults,
    traits: { windowTokens, tools, images },
    // The note says what these led to.
    recallTokens: windowTokens,
    fixedShare: 1,
    stackShare: 1,
    tailShare: 0,
    messageThreshold: 0,
    targets: { background: null, aggressive: null, emergency: null },
    sections: systemSections(kept),
    tools: readKeptTools(kept.parts.get(catalogue) ?? '[]'),
  };
}

/** The settings behind a note; null if they are no longer stored. */
export async function readSettings({ store }: Reading, note: RequestNote) {
  const { requests } = store.journal;
  const root = (await requests.parts([note.profile])).get(note.profile);
  if (root === undefined) return null;
  const profile = readKeptProfile(root);
  const parts = await requests.parts([...profile.sections, profile.catalogue, ...Object.values(profile.prompts)]);
  return { profile, parts };
}

/** The tail, the turn's own steps, and other entries that sections quote. */
async function readEntries({ store }: Reading, { conversation, reply }: RebuildOptions) {
  const { request: note, seq } = reply;
  const toSeq = seq - 1;
  const range = { fromSeq: note.fromSeq, toSeq, limit: Math.max(0, toSeq - note.fromSeq + 1) };
  const quotedSeqs = note.sections.flatMap((section) => {
    if (section.kind === 'passages') return section.seqs;
    return section.kind === 'replied-to' ? [section.seq] : [];
  });
  quotedSeqs.push(...note.opened.map((opened) => opened.seq));
  const { requests } = store.journal;
  const [read, before, quoted, changed] = await Promise.all([
    store.transcript.read(conversation.id, range),
    readBefore(store, conversation, note),
    store.transcript.pick(conversation.id, quotedSeqs),
    requests.changedSince(conversation.id, { fromSeq: 1, toSeq, revision: note.revision }),
  ]);
  const changes = { conversation, changed: new Set(changed) };
  const gone = new Map<string, Gone>();
  const show = (entry: Entry): Entry => {
    const reason = goneEntry(entry, changes);
    if (reason === null) return entry;
    gone.set(`#${entry.seq}`, reason);
    return withoutContent(entry, reason);
  };
  const all = read.map(show);
  const stepsFrom = seq - note.steps;
  const shown = new Map(quoted.map((entry) => [quoteKey(null, entry.seq), show(entry)]));
  const steps = all.filter((entry) => entry.seq >= stepsFrom).map(stepMessage);
  return {
    read: [...before, ...all],
    tail: all.filter((entry) => entry.seq < stepsFrom),
    steps: withOpened(steps, note.opened, (opened) => shown.get(quoteKey(null, opened)) ?? null),
    quoted: shown,
    gone,
  };
}

/** Messages before the tail whose authors a section needs. */
async function readBefore(
  { transcript }: Pick<Reading['store'], 'transcript'>,
  { id }: Conversation,
  note: RequestNote,
) {
  const fromSeq = note.sections.find((section) => section.kind === 'namesakes')?.fromSeq ?? note.fromSeq;
  const limit = note.fromSeq - fromSeq;
  return limit > 0 ? await transcript.read(id, { fromSeq, toSeq: note.fromSeq - 1, limit }) : [];
}

/** The images that tools opened follow the results. */
function withOpened(
  steps: readonly ModelMessage[],
  opened: RequestNote['opened'],
  entryAt: (seq: number) => Entry | null,
): readonly ModelMessage[] {
  const all = [...steps];
  for (const { at, seq } of opened) {
    const images = imagesOf(entryAt(seq) ?? { seq, parts: [] });
    const missing: ModelMessage = { role: 'user', content: [{ kind: 'text', text: goneText('deleted') }] };
    all.splice(at, 0, images.length === 0 ? missing : openedMessage(images));
  }
  return all;
}

/** Messages of other conversations of the place, if the reader may still read them. */
async function readElsewhere({ store }: Reading, { conversation, reply, reader }: RebuildOptions) {
  const gone = new Map<string, Gone>();
  const quoted = new Map<string, Entry>();
  const places = reply.request.sections.flatMap((section) => (section.kind === 'passages' ? section.elsewhere : []));
  for (const { conversation: key, seqs } of places) {
    const other = await store.conversations.find(key);
    const entries = other === null ? [] : await store.transcript.pick(other.id, seqs);
    const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
    const fromSeq =
      other && readableFrom(other, { key: conversation.key, audience: reader?.audience ?? other.audience });
    for (const seq of seqs) {
      const entry = bySeq.get(seq) ?? null;
      const reason = goneElsewhere(entry, { other, fromSeq, minute: reply.request.minute });
      if (reason !== null) gone.set(quoteKey(key, seq), reason);
      if (entry !== null) quoted.set(quoteKey(key, seq), reason === null ? entry : withoutContent(entry, reason));
    }
  }
  return { quoted, gone };
}

/** A message of the running turn, from the entry that it became. */
function stepMessage({ role, parts }: Entry): ModelMessage {
  if (role === 'tool') {
    const results = parts.flatMap((part) =>
      part.kind === 'tool-result'
        ? [{ callId: part.callId, tool: part.tool, text: part.text, isError: part.isError }]
        : [],
    );
    return { role: 'tool', results };
  }
  const calls = parts.flatMap((part) =>
    part.kind === 'tool-call' ? [{ callId: part.callId, tool: part.tool, input: part.input }] : [],
  );
  return { role: 'assistant', text: textOf(parts), calls };
}

async function readStack({ store }: Reading, conversation: Conversation, layers: readonly LayerRef[]) {
  const gone = new Map<string, Gone>();
  const items = await Promise.all(
    layers.map(async (layer): Promise<Summary> => {
      if (layer.kind === 'gap') return gap(conversation.id, layer, '');
      const found = await store.summaries.find(layer.id);
      const reason = goneSummary(found, conversation);
      if (found !== null && reason === null) return { ...found, stale: false };
      const { fromSeq, toSeq } = found ?? { fromSeq: 0, toSeq: 0 };
      gone.set(layer.id, reason ?? 'deleted');
      return { ...gap(conversation.id, { fromSeq, toSeq }, goneText(reason ?? 'deleted')), id: layer.id };
    }),
  );
  return { items, gone };
}

/** A summary of forgotten text becomes a gap, or is deleted. */
function goneSummary(found: Summary | null, { id, contextFrom }: Conversation): Gone | null {
  if (found === null || found.conversationId !== id || found.kind === 'gap') return 'deleted';
  return found.toSeq < contextFrom ? 'reset' : null;
}

function gap(conversationId: number, range: SeqRange, text: string): Summary {
  return unstoredGap(range, { conversationId, text, createdAt: 0 });
}
