import {
  counted,
  formatCost,
  formatDuration,
  formatNumber,
  MAX_SYSTEM_LENGTH,
  type ReplyView,
  type Rerun,
  type RerunView,
  systemTextOf,
} from '../../../../src/adapter-kit.ts';
import { conversationPath, html, type Markup, nothing, when } from '../markup/html.ts';

interface FormState {
  readonly formToken: string;
  /** Of the last run; null for those of the reply. */
  readonly chosen: Rerun['choice'] | null;
  readonly edited: string | null;
}

/** What a form sent. A browser sends line ends in two characters. */
export function rerunIn(form: Readonly<Record<string, unknown>>): {
  readonly agentId: string;
  readonly modelId: string;
  readonly system: string | null;
} {
  const { choice, system } = form;
  const chosen = typeof choice === 'string' ? choice : '';
  const [agentId = ''] = chosen.split(' ', 1);
  const text = typeof system === 'string' ? system.replaceAll('\r\n', '\n') : null;
  return { agentId, modelId: chosen.slice(agentId.length + 1), system: text };
}

/** For those who may: with which model, and with which system prompt. */
export function rerunForm({ explained, choices }: ReplyView, { formToken, chosen, edited }: FormState): Markup {
  if (choices === null) return nothing;
  const { conversation, seq } = explained;
  const { agentId, modelId } = chosen ?? explained;
  const system = edited ?? systemTextOf(explained);
  const options = choices.map((choice) => {
    const isOwn = choice.agentId === agentId && choice.modelId === modelId;
    return html`<option value="${choice.agentId} ${choice.modelId}" ${isOwn ? 'selected' : ''}>${choice.modelId}, agent ${choice.agentId}</option>`;
  });
  return html`<section class="panel" id="again" aria-labelledby="again-title"><h2 id="again-title">Run it again</h2>
    <p class="dim">Sends the request of this reply once more and shows the answer beside it. Nothing is posted or stored, and tools do not run. The call is paid for, and its cost counts as <i>rerun</i>.</p>
    <form method="post" enctype="multipart/form-data" action="${conversationPath(conversation, `/r/${seq}`)}#answers" class="stacked"><input type="hidden" name="token" value="${formToken}"><label for="choice">Model</label><select id="choice" name="choice">${options}</select>
    ${system.length > MAX_SYSTEM_LENGTH ? nothing : html`<label for="system">System prompt</label><textarea id="system" name="system" class="prompt" maxlength="${MAX_SYSTEM_LENGTH}">${system}</textarea>`}<div><button class="primary">Run it again</button></div></form></section>`;
}

/** The reply beside the answer to the same request. */
export function rerunBody({ reply, result, edited }: RerunView, formToken: string): Markup {
  const { explained, text, outputTokens } = reply;
  const { conversation, seq, modelId, tokens, at, agentId } = explained;
  const path = conversationPath(conversation, `/r/${seq}`);
  return html`<p class="crumbs"><a href="${conversationPath(conversation)}">${conversation}</a> › <a href="${path}">Why the bot wrote #${seq}</a> ›</p><h1>#${seq} again</h1>
    <p class="notice">${reply.exactness}</p>
    <div class="answers" id="answers"><section class="panel" aria-labelledby="then"><h2 id="then">The reply</h2><p class="dim facts">${modelId}, agent ${agentId} · ${when(at)} · ~${formatNumber(tokens)} tokens in, ~${formatNumber(outputTokens)} out</p><p class="said">${text}</p></section>
    <section class="panel" aria-labelledby="now"><h2 id="now">The answer now</h2>${'failure' in result ? html`<p class="trouble">${result.failure}</p>` : answer(result, edited !== null)}</section></div>
    ${rerunForm(reply, { formToken, chosen: result.choice, edited })}`;
}

function answer({ choice, text, calls, finish, usage, durationMs }: Rerun, isEdited: boolean): Markup {
  const { inputTokens, outputTokens, costUsd } = usage;
  const price = formatCost({ calls: 1, costUsd: costUsd ?? 0, unpricedCalls: costUsd === null ? 1 : 0 });
  const cut = finish === 'stop' || finish === 'tool-calls' ? '' : html` <span class="badge bad">${finish}</span>`;
  const tools = calls.map(
    ({ tool, input }) =>
      html`<li><b>${tool}</b> <span class="dim">not run</span><pre>${JSON.stringify(input, null, 2)}</pre></li>`,
  );
  return html`<p class="dim facts">${choice.modelId}, agent ${choice.agentId}${isEdited ? ', edited prompt' : ''} · ${formatDuration(durationMs)} · ${formatNumber(inputTokens)} tokens in, ${formatNumber(outputTokens)} out · ${price}${cut}</p>
    ${text.trim() === '' ? html`<p class="dim">It wrote no text.</p>` : html`<p class="said">${text}</p>`}
    ${calls.length === 0 ? nothing : html`<h3>It would call ${counted(calls.length, 'tool', 'tools')}</h3><ol class="blocks">${tools}</ol>`}`;
}
