import { counted, excerpt, formatNumber, formatPercent, type ReplyView } from '../../../../src/adapter-kit.ts';
import { ends, leftItem } from '../markup/blocks.ts';
import { conversationPath, html, type Markup, nothing, when } from '../markup/html.ts';
import { moreNote, type ShownText, shownTexts } from '../markup/shown-text.ts';
import { rerunForm } from './rerun-page.ts';

type Explained = ReplyView['explained'];
type Block = Explained['blocks'][number];
type Diff = NonNullable<ReplyView['diff']>;

/** Why the bot said it: the request as blocks, and what changed since the previous reply. */
export function replyBody(view: ReplyView, formToken: string): Markup {
  const { explained, exactness, diff } = view;
  const { conversation, seq, turn, at, modelId, agentId, tokens, windowTokens, previousSeq } = explained;
  const path = conversationPath(conversation);
  const before =
    previousSeq === null
      ? ''
      : html`<a class="button" href="${path}/r/${previousSeq}">← The reply before, #${previousSeq}</a> `;
  return html`<p class="crumbs"><a href="${path}?at=${seq}#m${seq}">${conversation} #${seq}</a> ›</p><h1>Why the bot wrote #${seq}</h1>
    <p class="dim facts">Answered #${turn} ${when(at)} · ${modelId}, agent ${agentId} · ~${formatNumber(tokens)} tokens, ${formatPercent(tokens / Math.max(1, windowTokens))} of ${formatNumber(windowTokens)}</p>
    <p class="notice">${exactness}</p>
    <p class="actions">${before}${view.choices === null ? '' : html`<a class="button" href="#again">Run it again</a> `}${jsonLinks(`${path}/r/${seq}/request.json`)}</p>
    ${diff === null ? nothing : changes(diff, previousSeq)}
    <h2>The request</h2><ol class="blocks">${blockItems(explained.blocks, `${path}/r/${seq}/request.json`)}</ol>${rerunForm(view, { formToken, chosen: null, edited: null })}
    <p class="dim small">In chat: <code>/why ${seq}</code>. In a terminal: <code>strata why --conversation ${conversation} --reply ${seq}</code>.</p>`;
}

/** Strata's own form has the settings too; the others can be sent to a provider. */
function jsonLinks(path: string): Markup {
  const links = [
    { name: 'JSON', href: path },
    { name: 'OpenAI', href: `${path}?as=openai` },
    { name: 'Anthropic', href: `${path}?as=anthropic` },
  ].map(
    ({ name, href }) =>
      html`<a class="button" href="${href}">${name}</a><button type="button" class="quiet" data-copy="${href}" hidden>Copy</button>`,
  );
  return html`<span class="dim">The request as</span> ${links}`;
}

function changes({ changes: found, keptBlocks, sharedTokens }: Diff, previousSeq: number | null): Markup {
  const shown = found.slice(0, MAX_CHANGES);
  const texts = shownTexts(
    shown.map(({ block: { text } }) => excerpt(text, MAX_SHOWN)),
    { bytes: CHANGE_BYTES },
  );
  const rows = shown.map(({ change, block: { key, tokens, gone }, before }, index) => {
    const grown = change === 'removed' ? -tokens : tokens - (before?.tokens ?? 0);
    return html`<tr data-row><td><span class="badge ${change === 'removed' ? 'bad' : ''}">${change}</span></td><th scope="row">${key}</th><td class="num">${grown > 0 ? '+' : ''}${formatNumber(grown)}</td><td class="value">${gone === null ? (texts[index]?.text ?? '') : gone}</td></tr>`;
  });
  return html`<section class="panel" aria-labelledby="changes"><h2 id="changes">Since the request for #${previousSeq}</h2><p class="dim">${formatNumber(keptBlocks)} parts are unchanged; ${formatNumber(sharedTokens)} tokens at the start are the same, which a provider can read from its cache.</p>
    ${rows.length === 0 ? nothing : html`<div class="scroll" tabindex="0" role="region" aria-label="Changes since the request before"><table class="settings"><thead><tr><th scope="col">Change</th><th scope="col">Part</th><th scope="col" class="num">Tokens</th><th scope="col">Text</th></tr></thead><tbody>${rows}</tbody></table></div>`}${found.length > shown.length ? html`<p class="dim">and ${counted(found.length - shown.length, 'other change', 'other changes')}</p>` : ''}</section>`;
}

const MAX_SHOWN = 300;
const MAX_CHANGES = 60;
const CHANGE_BYTES = 20_000;

const REGIONS: Readonly<Record<Block['kind'], string>> = {
  tools: 'fixed',
  section: 'fixed',
  summary: 'stack',
  gap: 'stack',
  message: 'tail',
  step: 'tail',
  hook: 'tail',
  recalled: 'recalled',
};

const TEXT_BYTES = 70_000;

/** The text of the JSON is whole. */
function blockItems(all: readonly Block[], json: string): readonly Markup[] {
  const { first, left, last } = ends(all);
  const shown = [...first, ...last];
  const texts = shownTexts(
    shown.map(({ text }) => text),
    { bytes: TEXT_BYTES },
  );
  const link = html`, all in <a href="${json}">the request as JSON</a>`;
  const items = shown.map((one, index) => block(one, { shown: texts[index], link }));
  return left.length === 0
    ? items
    : [...items.slice(0, first.length), leftItem(left, link), ...items.slice(first.length)];
}

function block(
  { kind, key, tokens, source, reason, gone }: Block,
  { shown = { text: '', more: 0 }, link }: { readonly shown: ShownText | undefined; readonly link: Markup },
): Markup {
  const { text } = shown;
  const head = html`<span class="swatch l-${REGIONS[kind]}"></span><b>${key}</b> <span class="dim">~${formatNumber(tokens)} tokens · ${source} · ${reason}</span>${gone === null ? '' : html` <span class="badge bad">${gone} since</span>`}`;
  return text === ''
    ? html`<li>${head}</li>`
    : html`<li><details><summary>${head}</summary><pre>${text}</pre>${moreNote(shown, link)}</details></li>`;
}
