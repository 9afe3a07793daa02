import { shownAuthor, shownText } from '../../commands/format-entry.ts';
import type { CommandServices } from '../../commands/services.ts';
import { findConversation } from '../../conversation/find-conversation.ts';
import { findSummary } from '../../conversation/find-summary.ts';
import { type Entry, type SummaryId, textOf } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import type { SpecificKind, Summary } from '../../ports/summary-store.ts';
import { type Account, keptShare, lostOnce } from '../../search/specifics/losses.ts';
import { accountInSlices, readAccount } from '../../search/specifics/read-account.ts';
import type { Specific } from '../../search/specifics/specifics.ts';
import { assertMayRead, type Viewer } from '../viewer.ts';
import { type Rewriting, rewritingOf } from './rewriting.ts';
import { type TracedText, traceSentences } from './trace.ts';

/** A summary beside what it was made from. */
export interface SummaryView {
  readonly conversation: Conversation;
  readonly summary: Summary;
  readonly text: TracedText;
  readonly sources: readonly SummarySource[];
  /** Sources after the shown ones. */
  readonly moreSources: number;
  /** Details of the messages that it does not say, each once. */
  readonly lost: readonly LostDetail[];
  /** Lost details by kind, most frequent first. */
  readonly lostByKind: readonly { readonly kind: SpecificKind; readonly count: number }[];
  /** The share of the details that it says. */
  readonly keptShare: number;
  readonly rewriting: Rewriting;
}

/** A detail that the summary does not say, and the messages that do. */
export interface LostDetail {
  readonly kind: SpecificKind;
  readonly text: string;
  readonly seqs: readonly number[];
}

/** A message, or for a summary of summaries one of these. */
export interface SummarySource {
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Of a summary. */
  readonly layerId: SummaryId | null;
  readonly who: string;
  readonly at: number;
  readonly text: string;
  readonly marks: readonly SourceMark[];
  /** The sentences of the summary that came from it, counted through all lines. */
  readonly sentences: readonly number[];
}

/** A detail in the text of a source. */
export interface SourceMark {
  readonly start: number;
  readonly end: number;
  readonly kind: SpecificKind;
  readonly isLost: boolean;
}

export interface SummaryViewQuery {
  readonly viewer: Viewer;
  readonly key: string;
  readonly id: string;
}

const MAX_SOURCES = 200;
/** Characters of a source in which the sentences of the summary are looked for. */
const MAX_TRACED = 10_000;
const MAX_LOST = 100;

export async function summaryView(
  services: CommandServices,
  { viewer, key, id }: SummaryViewQuery,
): Promise<SummaryView> {
  const { store } = services;
  const { conversation, summary } = await readableSummary(services, { viewer, key, id });
  const { found, more } = await sourcesOf(services, summary);
  const texts = found.map(({ text }) => text);
  const text = traceSentences(
    summary.text,
    texts.map((said) => said.slice(0, MAX_TRACED)),
  );
  const account = summary.kind === 'gap' ? null : await readAccount(store, summary);
  const lost = lostOnce(account?.lost ?? []);
  return {
    conversation,
    summary,
    text,
    moreSources: more,
    sources: withLinks(found, { text, account: await accountInSlices(summary.text, numbered(texts)) }),
    lost: lost.slice(0, MAX_LOST).map(({ kind, text: said, seqs }) => ({ kind, text: said, seqs })),
    lostByKind: countedByKind(lost),
    keptShare: account === null ? 0 : keptShare(account),
    rewriting: await rewritingOf(services, conversation, summary),
  };
}

export async function readableSummary(
  services: CommandServices,
  { viewer, key, id }: SummaryViewQuery,
): Promise<Pick<SummaryView, 'conversation' | 'summary'>> {
  const conversation = await findConversation(services, key);
  assertMayRead(viewer, conversation.audience, 'The text of summaries');
  return { conversation, summary: await findSummary(services, conversation, id) };
}

type Found = Omit<SummarySource, 'marks' | 'sentences'>;

async function sourcesOf(
  { store }: CommandServices,
  summary: Summary,
): Promise<{ readonly found: readonly Found[]; readonly more: number }> {
  const { conversationId, fromSeq, toSeq, level } = summary;
  const children = level === 0 ? [] : await store.summaries.children(summary.id);
  if (children.length > 0) return { found: children.slice(0, MAX_SOURCES).map(ofSummary), more: 0 };
  const entries = await store.transcript.read(conversationId, { fromSeq, toSeq, limit: MAX_SOURCES });
  return { found: entries.map(ofEntry), more: Math.max(0, toSeq - fromSeq + 1 - entries.length) };
}

function ofSummary({ id, fromSeq, toSeq, createdAt, text, level }: Summary): Found {
  return { fromSeq, toSeq, layerId: id, who: `summary of level ${level}`, at: createdAt, text };
}

function ofEntry(entry: Entry): Found {
  const { seq, at, parts, redactedAt } = entry;
  const said = redactedAt === null ? textOf(parts) : '';
  return {
    fromSeq: seq,
    toSeq: seq,
    layerId: null,
    who: shownAuthor(entry),
    at,
    text: said === '' ? shownText(entry) : said,
  };
}

function numbered(texts: readonly string[]) {
  return texts.map((text, seq) => ({ seq, text }));
}

/** The other direction of each link, and the details of each source. */
function withLinks(
  found: readonly Found[],
  { text, account }: { readonly text: TracedText; readonly account: Account },
): readonly SummarySource[] {
  const sentences = Map.groupBy(
    text.flat().flatMap(({ sources }, sentence) => sources.map((source) => ({ source, sentence }))),
    ({ source }) => source,
  );
  const details = [
    ...account.carried.map((detail) => ({ ...detail, isLost: false })),
    ...account.lost.map((detail) => ({ ...detail, isLost: true })),
  ];
  const marks = Map.groupBy(details, ({ seq }) => seq);
  return found.map((source, index) => ({
    ...source,
    marks: (marks.get(index) ?? []).map(({ start, end, kind, isLost }) => ({ start, end, kind, isLost })),
    sentences: (sentences.get(index) ?? []).map(({ sentence }) => sentence),
  }));
}

function countedByKind(lost: readonly Specific[]): SummaryView['lostByKind'] {
  const groups = Map.groupBy(lost, ({ kind }) => kind);
  return [...groups].map(([kind, of]) => ({ kind, count: of.length })).toSorted((a, b) => b.count - a.count);
}
