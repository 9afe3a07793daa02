import {
  formatNumber,
  formatPercent,
  type SourceMark,
  type SummarySource,
  type SummaryView,
  type TracedSentence,
} from '../../../../src/adapter-kit.ts';
import { conversationPath, html, type Markup, when } from '../markup/html.ts';
import { moreNote, type ShownText, shownTexts } from '../markup/shown-text.ts';
import { rewritePanel } from './rewrite-panel.ts';

/** The summary on the left, what it was made from on the right, with links both ways. */
export function summaryBody(view: SummaryView, formToken: string): Markup {
  const { summary, conversation } = view;
  const range = `#${summary.fromSeq}–#${summary.toSeq}`;
  const path = conversationPath(conversation.key);
  return html`<p class="crumbs"><a href="${path}">${conversation.key}</a> ›</p>
    <h1>${summary.kind === 'gap' ? 'Gap' : 'Summary of'} ${range}</h1>${facts(view)}${summary.kind === 'gap' ? gapNote() : ledger(view)}
    <div class="beside ${summary.kind}" data-trace>
      <div class="left"><section aria-labelledby="said" class="summary-text"><h2 id="said">${summary.kind === 'gap' ? 'In its place' : 'What the model reads'}</h2>${summaryText(view)}</section>${rewritePanel(view, formToken)}</div>
      <section aria-labelledby="sources"><h2 id="sources">What it was made from</h2><p class="key-to-marks"><span><mark class="kept">kept</mark> the summary says it</span><span><mark class="lost">left out</mark> only these messages say it</span></p>${sourceList(view)}</section>
    </div>`;
}

function facts({ summary, conversation, rewriting }: SummaryView): Markup {
  const { level, tokens, model, createdAt, supersededBy, stale, promptHash } = summary;
  const parent =
    supersededBy === null || rewriting.kind === 'done'
      ? ''
      : html` · now part of <a href="${conversationPath(conversation.key, `/s/${supersededBy}`)}">a summary of level ${level + 1}</a>`;
  return html`<p class="dim facts">Level ${level} · ~${formatNumber(tokens)} tokens · written ${when(createdAt)}${model === null ? '' : ` by ${model}`}${promptHash === null ? '' : ` · prompt ${promptHash}`}${parent}${stale ? html` · <span class="badge bad">outdated, will be rewritten</span>` : ''}</p>`;
}

function gapNote(): Markup {
  return html`<p class="notice">These messages left the view without a summary. The model reads only how many they were. A job fills the gap.</p>`;
}

/** What was kept and what was left out, in one line and as a list. */
function ledger({ lost, lostByKind, keptShare, conversation }: SummaryView): Markup {
  const total = lostByKind.reduce((sum, { count }) => sum + count, 0);
  const left = lostByKind.map(({ kind, count }) => `${formatNumber(count)} ${kindName(kind, count)}`).join(', ');
  const items = lost.map(
    ({ kind, text, seqs }) =>
      html`<li><span class="badge">${kind}</span> <mark class="lost">${text}</mark> <span class="dim">${seqs.slice(0, MAX_SEQS).map((seq, index) => html`${index === 0 ? '' : ', '}<a href="${`${conversationPath(conversation.key)}?at=${seq}#m${seq}`}">#${seq}</a>`)}${seqs.length > MAX_SEQS ? ` and ${seqs.length - MAX_SEQS} more` : ''}</span></li>`,
  );
  return html`<section class="panel ledger" aria-labelledby="ledger"><h2 id="ledger">${lost.length === 0 ? 'Nothing was left out' : `Left out: ${left}`}</h2>
    <svg class="kept" viewBox="0 0 400 8" role="img" aria-label="${formatPercent(keptShare)} of the details are kept" preserveAspectRatio="none"><rect class="l-free" width="400" height="8"/><rect class="l-kept" width="${Math.round(keptShare * 400)}" height="8"/></svg>
    <p class="dim">${formatPercent(keptShare)} of the names, numbers, links, dates, codes, promises and prohibitions of these messages are in the summary. What is not can still be found: search and recall read the messages.</p>
    ${lost.length === 0 ? '' : html`<details><summary>${lost.length < total ? `The first ${formatNumber(lost.length)} of ${formatNumber(total)}` : `The ${formatNumber(total)}`} details that it leaves out</summary><ul class="lost-list">${items}</ul></details>`}</section>`;
}

const MAX_SEQS = 5;

function kindName(kind: string, count: number): string {
  return count === 1 ? kind : `${kind}s`;
}

function summaryText({ text, sources, summary }: SummaryView): Markup {
  if (summary.kind === 'gap')
    return html`<p class="dim">[${summary.toSeq - summary.fromSeq + 1} older messages were removed from the view]</p>`;
  let index = -1;
  const lines = text.map((line) => {
    const sentences = line.map((sentence) => {
      index += 1;
      return sentenceMarkup(sentence, { index, sources });
    });
    return html`<p>${sentences}</p>`;
  });
  return html`${lines}`;
}

function sentenceMarkup(
  { text, sources: from }: TracedSentence,
  { index, sources }: { readonly index: number; readonly sources: readonly SummarySource[] },
): Markup {
  const links = from.flatMap((place) => {
    const source = sources[place];
    return source === undefined ? [] : [html`<a class="ref" href="#source-${place}">#${source.fromSeq}</a>`];
  });
  const unknown =
    from.length === 0 && text.trim() !== ''
      ? html`<span class="ref none" title="No message says this in similar words">?</span>`
      : '';
  return html`<span class="sentence" id="sentence-${index}" data-sentence="${index}" data-sources="${from.join(' ')}">${text.trimEnd()}<sup>${links}${unknown}</sup></span> `;
}

/** Of the markup around a marked detail, and of a list item. */
const MARK_BYTES = 90;
const TEXT_BYTES = 60_000;

function sourceList({ sources, moreSources, conversation, summary }: SummaryView): Markup {
  const markupOf = (index: number, length: number) =>
    MARK_BYTES * (sources[index]?.marks.filter(({ end }) => end <= length).length ?? 0);
  const texts = shownTexts(
    sources.map(({ text }) => text),
    { bytes: TEXT_BYTES, markupOf },
  );
  const more =
    moreSources === 0
      ? ''
      : html`<p><a href="${`${conversationPath(conversation.key)}?at=${summary.toSeq}`}">${formatNumber(moreSources)} more messages on the timeline</a></p>`;
  return html`<ol class="sources">${sources.map((source, index) => sourceMarkup({ ...source, ...texts[index] }, { index, key: conversation.key }))}</ol>${more}`;
}

function sourceMarkup(
  source: SummarySource & Partial<ShownText>,
  { index, key }: { readonly index: number; readonly key: string },
): Markup {
  const { fromSeq, toSeq, layerId, who, at, text, more = 0, marks, sentences } = source;
  const whole = marks.filter(({ end }) => end <= text.length);
  const href =
    layerId === null ? `${conversationPath(key)}?at=${fromSeq}#m${fromSeq}` : conversationPath(key, `/s/${layerId}`);
  const name = layerId === null ? `#${fromSeq}` : `#${fromSeq}–#${toSeq}`;
  const back = sentences.map(
    (sentence) =>
      html`<a class="ref" href="#sentence-${sentence}" aria-label="Sentence ${sentence + 1} of the summary">${sentence + 1}</a>`,
  );
  return html`<li id="source-${index}" data-source="${index}" class="${sentences.length === 0 ? 'unused' : ''}"><div class="meta"><a href="${href}">${name}</a> <b>${who}</b> ${when(at)} ${sentences.length === 0 ? html`<span class="dim">in no sentence</span>` : html`<span class="dim">in sentence ${back}</span>`}</div><p class="said">${marked(text, whole)}${moreNote({ more })}</p></li>`;
}

/** The text with its details marked. Sentences that promise or forbid contain other details; those are marked inside. */
function marked(text: string, marks: readonly SourceMark[]): Markup {
  const parts: (string | Markup)[] = [];
  let upto = 0;
  for (const { mark, inner } of outermost(marks)) {
    const { start, end, kind, isLost } = mark;
    const own = text.slice(start, end);
    const shifted = inner.map((one) => ({ ...one, start: one.start - start, end: one.end - start }));
    parts.push(text.slice(upto, start));
    parts.push(
      html`<mark class="${isLost ? 'lost' : 'kept'}" title="${kind}, ${isLost ? 'left out' : 'in the summary'}">${inner.length === 0 ? own : marked(own, shifted)}</mark>`,
    );
    upto = end;
  }
  return html`${parts}${text.slice(upto)}`;
}

interface Nested {
  readonly mark: SourceMark;
  readonly inner: SourceMark[];
}

/** Marks that lie in no other, in order and without overlaps, each with the shorter ones inside it. */
function outermost(marks: readonly SourceMark[]): readonly Nested[] {
  const found: Nested[] = [];
  for (const mark of marks.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = found.at(-1);
    if (last === undefined || mark.start >= last.mark.end) found.push({ mark, inner: [] });
    else if (mark.end <= last.mark.end && lengthOf(mark) < lengthOf(last.mark)) last.inner.push(mark);
  }
  return found;
}

function lengthOf({ start, end }: SourceMark): number {
  return end - start;
}
