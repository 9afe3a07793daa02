import {
  type AuditRow,
  type EffectiveLimits,
  formatNumber,
  type SettingsFilter,
  type SettingsView,
} from '../../../../src/adapter-kit.ts';
import { html, type Markup, when } from '../markup/html.ts';
import { emptyState } from './layout.ts';
import { promptPath } from './prompt-page.ts';

/** Each value with its origin, what the limits come to, and the prompts in use. */
export function settingsBody(view: SettingsView, filter: SettingsFilter): Markup {
  return html`<h1>Settings</h1><p class="dim">Each value and where it came from, like <code>strata config show --origin</code>. Secrets are shown as written in the file. Change values in the file; most changes apply without a restart.</p>
    <h2>Effective limits</h2>${view.limits.map(limitsPanel)}
    <h2>Values</h2>${valueFilter(filter)}${values(view)}
    <h2 id="prompts">Prompts</h2><p class="dim">The templates in use. Open one to see what it becomes with the variables of a real turn; <code>strata prompts eject</code> copies them for editing.</p>${prompts(view)}`;
}

function limitsPanel(limits: EffectiveLimits): Markup {
  if (limits.rows === null) return html`<p class="trouble">Agent ${limits.agentId}: ${limits.problem}</p>`;
  const rows = limits.rows.map(
    ({ name, tokens, text }) =>
      html`<div><dt>${name}</dt><dd>${tokens === null ? html`<b>${text}</b>` : html`<b>${formatNumber(tokens)}</b> tokens <span class="dim small">${text}</span>`}</dd></div>`,
  );
  return html`<section class="panel" aria-label="Limits of ${limits.agentId}"><p class="panel-title">Agent ${limits.agentId}</p><dl class="facts-list">${rows}</dl></section>`;
}

function valueFilter({ text, isChanged }: SettingsFilter): Markup {
  return html`<form class="filters" action="/settings"><label>Key<input type="search" name="q" value="${text}" maxlength="100"></label><label class="check"><input type="checkbox" name="changed" value="1" ${isChanged ? html`checked` : ''} data-submits> only what differs from the built-in values</label><button>Apply</button></form>`;
}

function values({ rows, total }: SettingsView): Markup {
  if (total === 0)
    return emptyState(
      'There is no configuration file',
      html`This bot was put together in code, so its values have no file to come from.`,
    );
  if (rows.length === 0) return emptyState('Nothing matches', html`None of the ${total} values does.`);
  const lines = rows.map(
    ({ path, value, origin }) =>
      html`<tr data-row><th scope="row"><code>${path}</code></th><td class="value">${JSON.stringify(value)}</td><td class="${origin.startsWith('default') ? 'dim-text' : ''}">${origin}</td></tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Settings"><table class="settings"><thead><tr><th scope="col">Key</th><th scope="col">Value</th><th scope="col">Origin</th></tr></thead><tbody>${lines}</tbody></table></div>`;
}

function prompts({ prompts: found }: SettingsView): Markup {
  const lines = found.map(
    ({ agentId, name, hash, origin, outdated }) =>
      html`<tr data-row><th scope="row"><a href="${promptPath(agentId, name)}">${name}</a></th><td>${agentId}</td><td>${origin}${outdated ? html` <span class="badge bad">the built-in has changed since</span>` : ''}</td><td><code>${hash}</code></td></tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Prompts"><table class="settings"><thead><tr><th scope="col">Prompt</th><th scope="col">Agent</th><th scope="col">Origin</th><th scope="col">Hash</th></tr></thead><tbody>${lines}</tbody></table></div>`;
}

export function auditBody(rows: readonly AuditRow[]): Markup {
  const head = html`<h1>Changes</h1>`;
  if (rows.length === 0)
    return html`${head}${emptyState('Nobody has changed anything here yet', html`Each change of a memory and each rewriting of a summary is recorded here, and in the log.`)}`;
  return html`${head}<div class="scroll" tabindex="0" role="region" aria-label="Changes"><table><thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">Where</th><th scope="col">Outcome</th></tr></thead>
    <tbody>${rows.slice(0, MAX_CHANGES).map(({ at, who, role, action, target, outcome }) => html`<tr data-row><td>${when(at)}</td><td>${who} <span class="dim">${role}</span></td><td>${action}</td><td>${targetOf(target)}</td><td>${outcome === 'done' ? 'done' : html`<span class="badge bad">refused</span>`}</td></tr>`)}</tbody></table></div>${rows.length > MAX_CHANGES ? html`<p class="dim">The newest ${MAX_CHANGES} of ${formatNumber(rows.length)}. The log has them all.</p>` : ''}`;
}

const MAX_CHANGES = 300;

/** The page of what was changed, where it has one. The target is as a form sent it, and cut if it is long. */
function targetOf(target: string): Markup {
  const key = target.startsWith(PAGES) ? decoded(target.slice(PAGES.length)) : null;
  return key === null ? html`<code>${target}</code>` : html`<a href="${target}"><code>${key}</code></a>`;
}

const PAGES = '/c/';

/** Null if it is not encoded as in an address. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
