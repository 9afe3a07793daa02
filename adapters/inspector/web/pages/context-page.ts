import { type ContextView, formatNumber, formatPercent } from '../../../../src/adapter-kit.ts';
import { gaugeBar, legend, percent } from '../charts/gauge.ts';
import { ends, leftItem } from '../markup/blocks.ts';
import { conversationPath, html, type Markup } from '../markup/html.ts';
import { moreNote, type ShownText, shownTexts } from '../markup/shown-text.ts';

type Report = ContextView['report'];
type Part = Report['parts'][number];

/** The next request as blocks, in the order in which the model reads them. */
export function contextBody({ key, report }: ContextView): Markup {
  const { measurement, modelId, lastInputTokens } = report;
  const counted =
    lastInputTokens === null
      ? ''
      : ` The provider counted ${formatNumber(lastInputTokens)} tokens in the last request.`;
  return html`<p class="crumbs"><a href="${conversationPath(key)}">${key}</a> ›</p><h1>What the model sees next</h1>
    <section class="panel"><p><b>${percent(measurement.ratio)}</b> of ${formatNumber(measurement.window)} tokens, for ${modelId}.${counted} The same as <code>strata context --conversation ${key}</code>.</p>
    <div class="wide">${gaugeBar(report, { width: 1200, height: 24 })}</div>${legend(report)}</section>
    <ol class="blocks">${blockItems(report, key)}</ol>`;
}

const TEXT_BYTES = 90_000;

function blockItems(report: Report, conversation: string): readonly Markup[] {
  const { first, left, last } = ends(report.parts);
  const parts = [...first, ...last];
  const texts = shownTexts(
    parts.map(({ text }) => text),
    { bytes: TEXT_BYTES },
  );
  const where = html`, all with <code>strata context --conversation ${conversation} --json</code>`;
  const items = parts.map((part, index) => block(part, { report, shown: texts[index], where }));
  return left.length === 0
    ? items
    : [...items.slice(0, first.length), leftItem(left, where), ...items.slice(first.length)];
}

interface Shown {
  readonly report: Report;
  readonly shown: ShownText | undefined;
  readonly where: Markup;
}

function block(part: Part, { report: { measurement }, shown = { text: '', more: 0 }, where }: Shown): Markup {
  const { key, tokens, source, reason, included, truncated, originalTokens } = part;
  const { text } = shown;
  const share = formatPercent(tokens / Math.max(1, measurement.window));
  const state = included ? (truncated ? `cut from ~${formatNumber(originalTokens)}` : '') : 'left out';
  const badge = state === '' ? '' : html` <span class="badge bad">${state}</span>`;
  const head = html`<span class="swatch l-${regionOf(part)}"></span><b>${key}</b> <span class="dim">~${formatNumber(tokens)} tokens, ${share} · ${source} · ${reason}</span>${badge}`;
  if (text === '') return html`<li>${head}</li>`;
  return html`<li><details><summary>${head}</summary><pre>${text}</pre>${moreNote(shown, where)}</details></li>`;
}

function regionOf({ key, source, priority }: Part): string {
  if (key === 'tail' || key === 'reserve') return key;
  if (source === 'stack') return 'stack';
  return key === 'tools' || priority !== null ? 'fixed' : 'recalled';
}
