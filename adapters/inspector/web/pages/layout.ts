import { html, type Markup, nothing } from '../markup/html.ts';
import type { Visit } from '../serving/access.ts';
import { CHART_FILES } from '../serving/assets.ts';

export interface Page {
  readonly title: string;
  readonly visit: Visit;
  /** Which entry of the navigation is current. */
  readonly section: Section;
  readonly body: Markup;
  /** Text of the search field. */
  readonly find?: string;
  readonly hasCharts?: boolean;
}

const SECTIONS = {
  conversations: { path: '/', label: 'Conversations' },
  memories: { path: '/memories', label: 'Memories' },
  costs: { path: '/costs', label: 'Costs' },
  settings: { path: '/settings', label: 'Settings' },
  audit: { path: '/audit', label: 'Changes' },
} as const;
export type Section = keyof typeof SECTIONS;

export function page({ title, visit, section, body, find = '', hasCharts = false }: Page): Markup {
  const links = Object.entries(SECTIONS).map(([name, { path, label }]) =>
    name === section ? html`<a href="${path}" aria-current="page">${label}</a>` : html`<a href="${path}">${label}</a>`,
  );
  const header = html`<header class="bar">
    <a class="brand" href="/"><svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true"><rect class="l-tail" x="1" y="1" width="14" height="3.4" rx="1"/><rect class="l-recalled" x="1" y="5" width="14" height="2.6" rx="1"/><rect class="l-stack" x="1" y="8.2" width="14" height="3.2" rx="1"/><rect class="l-fixed" x="1" y="12" width="14" height="3" rx="1"/></svg>Strata</a>
    <nav aria-label="Sections">${links}</nav>
    <form class="find" role="search" action="/find"><input id="find" type="search" name="q" value="${find}" placeholder="Search   /" aria-label="Search everything that you may read" maxlength="200"></form>
    <button type="button" class="quiet" data-theme-toggle hidden aria-label="Switch between light and dark">◐</button>
    <form method="post" action="/logout"><button class="quiet" title="${visit.viewer.name}, ${visit.viewer.role}">Sign out</button></form>
  </header>`;
  return shell(title, html`${header}<main id="main">${body}</main>${HELP}`, hasCharts ? CHARTS : nothing);
}

/** The scripts run after the page has loaded. */
const CHARTS = html`<link rel="stylesheet" href="/assets/${CHART_FILES.style}"><script defer src="/assets/${CHART_FILES.script}"></script><script type="module" src="/assets/charts.js"></script>${CHART_FILES.modules.map((name) => html`<link rel="modulepreload" href="/assets/${name}">`)}`;

const HELP = html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2>
<dl class="keys"><dt><kbd>/</kbd></dt><dd>search</dd><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous row</dd><dt><kbd>Enter</kbd></dt><dd>open the row</dd><dt><kbd>?</kbd></dt><dd>this list</dd></dl>
<form method="dialog"><button>Close</button></form></dialog>`;

/** A document without navigation. */
export function shell(title: string, body: Markup, head: Markup = nothing): Markup {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title} · Strata</title>
<link rel="stylesheet" href="/assets/style.css"><link rel="icon" href="data:,">
<script src="/assets/script.js"></script>${head}</head><body><a class="skip" href="#main">Skip to the content</a>${body}</body></html>`;
}

export function troublePage(
  visit: Visit | null,
  { title, text }: { readonly title: string; readonly text: string },
): Markup {
  const body = html`<h1>${title}</h1><p class="trouble">${text}</p><p><a href="/">All conversations</a></p>`;
  return visit === null
    ? shell(title, html`<main id="main">${body}</main>`)
    : page({ title, visit, section: 'conversations', body });
}

/** What a page says while it has nothing to show. */
export function emptyState(title: string, how: Markup): Markup {
  return html`<div class="empty"><h2>${title}</h2><p>${how}</p></div>`;
}
