import type { AuditRow, SettingsView } from '../../../src/adapter-kit.ts';
import { html, type Markup, when } from './html.ts';
import { emptyState } from './layout.ts';

export function settingsBody({ rows, prompts }: SettingsView): Markup {
  const values = rows.map(
    ({ path, value, origin }) =>
      html`<tr data-row><th scope="row"><code>${path}</code></th><td class="value">${JSON.stringify(value)}</td><td class="${origin.startsWith('default') ? 'dim' : ''}">${origin}</td></tr>`,
  );
  const templates = prompts.map(
    ({ agentId, name, hash, origin, outdated, template }) =>
      html`<li><details><summary><b>${name}</b> <span class="dim">${agentId} · ${origin} · ${hash}</span>${outdated ? html` <span class="badge bad">the built-in has changed since</span>` : ''}</summary><pre>${template}</pre></details></li>`,
  );
  return html`<h1>Settings</h1><p class="dim">Each value with where it came from, like <code>strata config show --origin</code>. Secrets are shown as written in the file. Change them in the file; most apply without a restart.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Settings"><table class="settings"><thead><tr><th scope="col">Key</th><th scope="col">Value</th><th scope="col">Origin</th></tr></thead><tbody>${values}</tbody></table></div>
    <h2>Prompts</h2><p class="dim">The templates in use; <code>strata prompts eject</code> copies them for editing. What they become in a conversation is on its page, under “What the model sees next”.</p><ol class="blocks">${templates}</ol>`;
}

export function auditBody(rows: readonly AuditRow[]): Markup {
  const head = html`<h1>Changes</h1>`;
  if (rows.length === 0)
    return html`${head}${emptyState('Nobody has changed anything here yet', html`Each change of a memory and each rewriting of a summary is recorded here, and in the log.`)}`;
  return html`${head}<div class="scroll" tabindex="0" role="region" aria-label="Changes"><table><thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">Where</th><th scope="col">Outcome</th></tr></thead>
    <tbody>${rows.map(({ at, who, role, action, target, outcome }) => html`<tr data-row><td>${when(at)}</td><td>${who} <span class="dim">${role}</span></td><td>${action}</td><td>${targetOf(target)}</td><td>${outcome === 'done' ? 'done' : html`<span class="badge bad">refused</span>`}</td></tr>`)}</tbody></table></div>`;
}

/** The page of what was changed, where it has one. */
function targetOf(target: string): Markup {
  return target.startsWith('/c/')
    ? html`<a href="${target}"><code>${decodeURIComponent(target.slice('/c/'.length))}</code></a>`
    : html`<code>${target}</code>`;
}
