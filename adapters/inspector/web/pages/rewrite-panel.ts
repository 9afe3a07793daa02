import { MAX_WISH_LENGTH, type SummaryView } from '../../../../src/adapter-kit.ts';
import { conversationPath, html, type Markup, when } from '../markup/html.ts';

/** Asks for other words, or says who writes them. */
export function rewritePanel(view: SummaryView, formToken: string): Markup {
  if (view.rewriting.kind === 'impossible') return html`<p class="dim small">${view.rewriting.reason}</p>`;
  return html`<section class="panel" id="rewriting" aria-labelledby="rewrite" aria-live="polite"><h2 id="rewrite">Rewrite it</h2>${content(view.rewriting, view, formToken)}</section>`;
}

function content(rewriting: Shown, view: SummaryView, formToken: string): Markup {
  const { conversation, summary } = view;
  switch (rewriting.kind) {
    case 'possible':
      return html`${rewriting.failure === null ? '' : html`<p class="trouble">The last attempt failed: ${rewriting.failure}</p>`}${form(view, formToken)}`;
    case 'waiting':
      return waiting(rewriting);
    case 'done':
      return html`<p class="notice">${summary.kind === 'gap' ? 'A summary filled this gap' : 'Another text replaced this one'} ${when(rewriting.by.createdAt)}. <a href="${conversationPath(conversation.key, `/s/${rewriting.by.id}`)}">Read it</a></p>`;
    default:
      return rewriting satisfies never;
  }
}

function form({ summary, conversation, sources }: SummaryView, formToken: string): Markup {
  const { id, level, fromSeq, toSeq } = summary;
  const source = level === 0 ? `#${fromSeq}–#${toSeq}` : `its ${sources.length} summaries`;
  return html`<p class="dim">A worker reads ${source} once more and replaces this text in one step. It stays readable under <a href="/audit">Changes</a>. The provider's cache loses what follows this summary, once.</p>
    <form method="post" action="${conversationPath(conversation.key, `/s/${id}`)}" class="stacked"><input type="hidden" name="token" value="${formToken}"><label for="wish">What should it emphasise? <span class="dim">(optional)</span></label><textarea id="wish" name="wish" maxlength="${MAX_WISH_LENGTH}"></textarea><div><button class="primary">Rewrite the summary</button></div></form>
    <p class="dim small">In chat: <code>/summaries rewrite ${id} WISH</code></p>`;
}

type Shown = Exclude<SummaryView['rewriting'], { kind: 'impossible' }>;
type Waiting = Extract<Shown, { kind: 'waiting' }>;

function waiting({ askedAt, isTaken, other }: Waiting): Markup {
  if (other !== null)
    return html`<p class="notice" data-waiting>The summary of #${other.fromSeq}–#${other.toSeq} is rewritten first. Then this one can be.</p>`;
  const state = isTaken
    ? html`A worker is writing the new text.`
    : html`No worker has taken it yet. A running bot on this data does within seconds; <code>strata start</code> starts one.`;
  return html`<p class="notice" data-waiting>Asked for ${when(askedAt)}. ${state}</p><noscript><p class="dim">Load the page again to see the result.</p></noscript>`;
}
