import type { CommandServices } from '../../commands/services.ts';
import { estimateText } from '../../context/measure/tokens.ts';
import { readKeptSection } from '../../context/profile/keep-profile.ts';
import { type NotedReply, readNotes } from '../../context/record/note-chain.ts';
import type { LayerRef, RequestNote } from '../../context/record/request-note.ts';
import { buildPrefix } from '../../context/view/fixed-prefix.ts';
import type { MemoryId, SummaryId } from '../../domain/message.ts';
import { type KeptTexts, recollect, sectionMemories } from '../../requests/kept-sections.ts';
import { profileOf, readSettings } from '../../requests/rebuild.ts';
import type { LayerSpan } from './layers.ts';
import { MAX_TURNS, type TurnContext, type TurnFacts, type TurnLayer, type TurnSettings } from './turns.ts';

type Reading = Pick<CommandServices, 'store' | 'prompts'>;

export interface TurnQuery {
  readonly conversationId: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly layers: readonly LayerSpan[];
  readonly tokensIn: TurnContext['tokensIn'];
}

/** The label and the marks around a recalled text. */
const LABEL_TOKENS = 12;
const CLOCK_TOKENS = 24;
/** What introduces the memories, or the earlier messages. */
const HEADING_TOKENS = 36;
const GAP_TOKENS = 20;

/** What the newest requests of the range were built from, oldest first. Replies without a record are left out. */
export async function turnFacts(services: Reading, query: TurnQuery): Promise<readonly TurnFacts[]> {
  const { store } = services;
  const replies = await readNotes(store.journal.requests, query.conversationId, { ...query, limit: MAX_TURNS + 1 });
  const [settings, layers, memories] = await Promise.all([
    settingsOf(services, replies),
    layersIn(services, replies, query.layers),
    memoryTokens(services, replies),
  ]);
  return replies.flatMap(({ seq, turn, at, request: note }) => {
    const known = settings.get(settingsKey(note));
    if (known === undefined) return [];
    const shown = note.layers.map((layer) => layers(layer));
    const recalledTokens = recalledIn(note, { memories, tokensIn: query.tokensIn });
    return [{ seq, turn, at, note, settings: known, layers: shown, recalledTokens }];
  });
}

function settingsKey({ profile, budgetTokens }: RequestNote): string {
  return `${profile} ${budgetTokens}`;
}

/** Few requests differ in their settings. */
async function settingsOf(
  services: Reading,
  replies: readonly NotedReply[],
): Promise<ReadonlyMap<string, TurnSettings>> {
  const notes = new Map(replies.map(({ request }) => [settingsKey(request), request]));
  const found = await Promise.all(
    [...notes].map(async ([key, note]): Promise<readonly (readonly [string, TurnSettings])[]> => {
      const settings = await readSettings(services, note);
      return settings === null ? [] : [[key, await measured(services, note, settings)]];
    }),
  );
  return new Map(found.flat());
}

async function measured(
  { store, prompts }: Reading,
  { minute, budgetTokens }: RequestNote,
  settings: Pick<KeptTexts, 'profile' | 'parts'>,
): Promise<TurnSettings> {
  const memories = await recollect(store.memories, sectionMemories(settings), { minute, reader: null });
  const kept: KeptTexts = { prompts, ...settings, memories, entries: new Map(), read: [] };
  const { modelId, windowTokens, reserveTokens, catalogue, sections } = settings.profile;
  return {
    model: modelId,
    windowTokens,
    reserveTokens,
    catalogue,
    fixedTokens: buildPrefix(profileOf(kept), budgetTokens).tokens,
    sections: sections.map((hash) => [readKeptSection(settings.parts.get(hash) ?? EMPTY_SECTION).key, hash]),
  };
}

const EMPTY_SECTION = JSON.stringify({
  key: '',
  text: '',
  memoryIds: [],
  importances: [],
  originalTokens: null,
  priority: 0,
  protected: false,
  source: '',
  reason: '',
});

async function layersIn(
  { store }: Reading,
  replies: readonly NotedReply[],
  known: readonly LayerSpan[],
): Promise<(layer: LayerRef) => TurnLayer> {
  const spans = new Map<SummaryId, Pick<LayerSpan, 'level' | 'fromSeq' | 'toSeq' | 'tokens'>>(
    known.map((span) => [span.id, span]),
  );
  const ids = replies.flatMap(({ request }) =>
    request.layers.flatMap((layer) => (layer.kind === 'summary' ? [layer.id] : [])),
  );
  for (const id of new Set(ids)) {
    const found = spans.has(id) ? null : await store.summaries.find(id);
    if (found !== null) spans.set(id, found);
  }
  return (layer) => {
    if (layer.kind === 'gap') {
      const { fromSeq: from, toSeq: to } = layer;
      return { id: `gap-${from}-${to}`, kind: 'gap', level: 0, from, to, tokens: GAP_TOKENS };
    }
    const { level = 0, fromSeq: from = 0, toSeq: to = 0, tokens = 0 } = spans.get(layer.id) ?? {};
    return { id: layer.id, kind: 'summary', level, from, to, tokens };
  };
}

async function memoryTokens(
  { store }: Reading,
  replies: readonly NotedReply[],
): Promise<ReadonlyMap<MemoryId, number>> {
  const ids = replies.flatMap(({ request }) =>
    request.sections.flatMap((section) => (section.kind === 'memories' ? section.ids : [])),
  );
  const found = await Promise.all([...new Set(ids)].map(async (id) => [id, await store.memories.find(id)] as const));
  return new Map(found.map(([id, memory]) => [id, memory === null ? 0 : estimateText(memory.text) + LABEL_TOKENS]));
}

function recalledIn(
  { sections }: RequestNote,
  { memories, tokensIn }: { readonly memories: ReadonlyMap<MemoryId, number> } & Pick<TurnQuery, 'tokensIn'>,
): number {
  const quoted = (seqs: readonly number[]) => seqs.reduce((sum, seq) => sum + tokensIn(seq, seq) + LABEL_TOKENS, 0);
  return sections.reduce((sum, section) => {
    switch (section.kind) {
      case 'clock':
        return sum + CLOCK_TOKENS;
      case 'memories':
        return sum + section.ids.reduce((total, id) => total + (memories.get(id) ?? 0), HEADING_TOKENS);
      case 'passages':
        return sum + HEADING_TOKENS + quoted(section.seqs);
      case 'replied-to':
        return sum + quoted([section.seq]);
      case 'namesakes':
        return sum + HEADING_TOKENS;
      case 'other':
        return sum;
      default:
        return section satisfies never;
    }
  }, 0);
}
