import { formatNumber, type PromptView } from '../../../../src/adapter-kit.ts';
import { conversationPath, html, type Markup, nothing } from '../markup/html.ts';
import { moreNote, type ShownText, shownTexts } from '../markup/shown-text.ts';

/** The address of a prompt's page. */
export function promptPath(agentId: string, name: string): string {
  return `/settings/prompts/${encodeURIComponent(agentId)}/${name}`;
}

const TEXT_BYTES = 150_000;
const NOTHING: ShownText = { text: '', more: 0 };

/** What the variables of a real turn make of a template. */
export function promptBody(view: PromptView): Markup {
  const { agentId, name, origin, hash, outdated, file, template, variables, text, tokens } = view;
  const texts = [text === '' ? '(nothing)' : text, variables, template];
  const [preview = NOTHING, values = NOTHING, source = NOTHING] = shownTexts(texts, { bytes: TEXT_BYTES });
  return html`<p class="crumbs"><a href="/settings#prompts">Settings</a> ›</p><h1>Prompt ${name}</h1>
    <p class="dim facts">Agent <b>${agentId}</b> · ${origin} · ${hash}${outdated ? html` <span class="badge bad">the built-in has changed since</span>` : ''}${origin === 'built-in' ? '' : html`<br><code>${file}</code>`}</p>
    ${chooser(view)}<p class="notice">${sourceText(view)}</p>
    <div class="prompt-page"><section aria-labelledby="preview"><h2 id="preview">What it becomes <span class="dim">~${formatNumber(tokens)} tokens</span></h2>${code(preview, 'Text of the prompt')}</section>
    <section aria-label="Where it comes from"><h2>Variables</h2>${code(values, 'Variables')}<h2>Template</h2>${code(source, 'Template')}</section></div>
    <p class="dim small after">To change it: <code>strata prompts eject ${name}</code>, then edit the copy; <code>strata prompts check</code> tries it out.</p>`;
}

function code(shown: ShownText, label: string): Markup {
  return html`<pre tabindex="0" role="region" aria-label="${label}">${shown.text}${moreNote(shown)}</pre>`;
}

function chooser({ agentId, name, conversation, conversations }: PromptView): Markup {
  if (conversations.length === 0) return nothing;
  const options = [...new Set([...(conversation === null ? [] : [conversation]), ...conversations])].map(
    (key) => html`<option value="${key}" ${key === conversation ? html`selected` : ''}>${key}</option>`,
  );
  return html`<form class="filters" action="${promptPath(agentId, name)}"><label>With the variables of<select name="conversation" data-submits>${options}</select></label><button>Show</button></form>`;
}

function sourceText({ conversation, conversations }: PromptView): Markup {
  if (conversation !== null)
    return html`With the variables of the newest turn in <a href="${conversationPath(conversation)}">${conversation}</a>; those of summaries are as one written now would have them.`;
  return conversations.length === 0
    ? html`This agent has no conversations yet, so these are sample values.`
    : html`No turn in this conversation has needed this prompt yet, so these are sample values.`;
}
