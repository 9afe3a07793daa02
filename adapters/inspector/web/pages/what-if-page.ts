import {
  BUILT_IN_ENGINES,
  counted,
  formatNumber,
  formatPercent,
  type TriedSetting,
  type WhatIfView,
} from '../../../../src/adapter-kit.ts';
import { whatIfChart } from '../charts/what-if-chart.ts';
import { conversationPath, html, type Markup, nothing } from '../markup/html.ts';
import { emptyState } from './layout.ts';

type Name = TriedSetting['name'];

interface Field {
  readonly name: Name;
  readonly label: string;
  /** A slider of tokens doubles its value over equal distances. */
  readonly scale: 'share' | 'tokens' | 'count';
}

interface Group {
  readonly title: string;
  readonly note: string;
  readonly fields: readonly Field[];
}

const GROUPS: readonly Group[] = [
  {
    title: 'Window',
    note: 'in tokens',
    fields: [
      { name: 'context_window', label: 'Window', scale: 'tokens' },
      { name: 'max_output_tokens', label: 'Longest answer', scale: 'tokens' },
      { name: 'compaction.message_threshold', label: 'Message limit', scale: 'count' },
    ],
  },
  {
    title: 'Thresholds',
    note: 'at which messages leave',
    fields: [
      { name: 'compaction.background_threshold', label: 'Background', scale: 'share' },
      { name: 'compaction.aggressive_threshold', label: 'Aggressive', scale: 'share' },
      { name: 'compaction.emergency_threshold', label: 'Emergency', scale: 'share' },
    ],
  },
  {
    title: 'Targets',
    note: 'what then stays in use',
    fields: [
      { name: 'compaction.background_target', label: 'Background', scale: 'share' },
      { name: 'compaction.aggressive_target', label: 'Aggressive', scale: 'share' },
      { name: 'compaction.emergency_target', label: 'Emergency', scale: 'share' },
    ],
  },
  {
    title: 'Shares',
    note: 'for each region',
    fields: [
      { name: 'compaction.fixed_share', label: 'Instructions and tools', scale: 'share' },
      { name: 'compaction.stack_share', label: 'Summaries', scale: 'share' },
      { name: 'compaction.tail_share', label: 'Newest messages', scale: 'share' },
      { name: 'compaction.reserve_share', label: 'Answer', scale: 'share' },
    ],
  },
];

/** A stored conversation under other settings, beside the present ones. Scripts draw the chart themselves. */
export function whatIfBody(view: WhatIfView, { isDrawn }: { readonly isDrawn: boolean }): Markup {
  const path = conversationPath(view.key);
  const head = html`<p class="crumbs"><a href="${path}">${view.key}</a> ›</p><h1>What if</h1>`;
  if (view.messages === 0)
    return html`${head}${emptyState('There is nothing to play yet', html`The forecast plays the messages since the last reset. There are none.`)}`;
  const limit = view.isPartial ? ', the newest ones, because there are too many to play all' : '';
  return html`${head}<p class="dim">${counted(view.messages, 'stored message', 'stored messages')} of agent ${view.agentId}, played under other settings without a model call${limit}. Nothing changes. The same as <code>strata what-if --conversation ${view.key}</code>.</p>
    <div class="trial-page">${controls(view)}<div id="outcome">${outcome(view, isDrawn)}</div></div>`;
}

function controls(view: WhatIfView): Markup {
  const path = conversationPath(view.key, '/what-if');
  const settings = new Map(view.settings.map((setting) => [setting.name, setting]));
  const groups = GROUPS.map(({ title, note, fields }, index) => {
    const rows = fields.map((field) => {
      const setting = settings.get(field.name);
      return setting === undefined ? nothing : fieldMarkup(field, setting);
    });
    return html`<fieldset><legend>${title} <span class="dim">${note}</span></legend>${index === 0 ? engineField(settings.get('engine')) : ''}${rows}</fieldset>`;
  });
  return html`<form class="trial panel" action="${path}" data-trial>${groups}<p class="actions"><button class="primary">Try it</button><a class="button" href="${path}">Present settings</a></p></form>`;
}

function engineField(setting: TriedSetting | undefined): Markup {
  if (setting === undefined) return nothing;
  const value = setting.tried ?? setting.present;
  const isKnown = BUILT_IN_ENGINES.some((engine) => engine === value);
  const names = isKnown ? BUILT_IN_ENGINES : [String(value), ...BUILT_IN_ENGINES];
  return html`<div class="trial-field"><div><label for="f-engine">Engine</label>${presentNote(setting)}</div><select id="f-engine" name="engine">${names.map((name) => html`<option ${name === value ? html`selected` : ''}>${name}</option>`)}</select></div>`;
}

function fieldMarkup({ name, label, scale }: Field, setting: TriedSetting): Markup {
  const id = `f-${name.replace('.', '-')}`;
  const value = setting.tried ?? setting.present;
  const text = value === 'auto' ? '' : String(value);
  const auto = setting.canBeAuto ? html`placeholder="auto" ` : '';
  const { min, max, step } = SLIDERS[scale];
  return html`<div class="trial-field"><div><label for="${id}">${label}</label>${presentNote(setting)}</div><input type="range" hidden min="${setting.canBeAuto ? min : (MIN_VALUES[scale] ?? min)}" max="${max}" step="${step}" data-for="${id}" data-scale="${scale}" aria-label="${label}, slider"><input id="${id}" name="${name}" value="${text}" inputmode="decimal" size="8" maxlength="40" autocomplete="off" ${auto}></div>`;
}

function presentNote({ present, tried }: TriedSetting): Markup {
  return html`<span class="dim present">${tried === null ? '' : html`now ${present}`}</span>`;
}

/** At the lowest position of a slider, a setting that can be "auto" is. */
const SLIDERS = {
  share: { min: 0, max: 1, step: 0.01 },
  tokens: { min: 9.9, max: 20, step: 0.1 },
  count: { min: 0, max: 500, step: 1 },
} as const;
const MIN_VALUES: Readonly<Partial<Record<Field['scale'], number>>> = { share: 0.01 };

function outcome(view: WhatIfView, isDrawn: boolean): Markup {
  const { problem, tried } = view;
  return html`${problem === null ? '' : html`<p class="trouble" role="alert">${problem}</p>`}
    <p class="verdict" role="status">${verdict(view)}</p>
    <section class="panel" aria-labelledby="over-time"><h2 id="over-time">View over time</h2>${whatIfChart(view, { isDrawn })}</section>
    ${totals(view)}${tried === null ? nothing : configLines(view)}`;
}

/** The change in one sentence. */
function verdict({ present, tried, problem }: WhatIfView): string {
  if (problem !== null) return 'These values do not fit together. The chart shows the present settings.';
  if (tried === null) return 'These are the present settings. Move a slider to see what changes.';
  if (present === null) return 'The engine of this agent has no forecast, so there is nothing to compare with.';
  const work = `${counted(tried.compactions, 'compaction', 'compactions')} instead of ${formatNumber(present.compactions)}`;
  const [before, after] = [present, tried].map(({ meanTokens, windowTokens }) =>
    formatPercent(meanTokens / windowTokens),
  );
  const view = `a mean view of ${after} of the window instead of ${before}`;
  if (present.costUsd === null || tried.costUsd === null || present.costUsd === 0) return `${work}, and ${view}.`;
  return `${work}, ${view}, and ${changeText(tried.costUsd / present.costUsd - 1)} of the cost.`;
}

function changeText(change: number): string {
  return `${change > 0 ? '+' : change < 0 ? '−' : '±'}${formatPercent(Math.abs(change))}`;
}

function totals({ rows, present, tried }: WhatIfView): Markup {
  const body = rows.map(
    ({ name, present: before, tried: after, change }) =>
      html`<tr><th scope="row">${name}</th>${present === null ? '' : html`<td class="num">${before}</td>`}${tried === null ? '' : html`<td class="num"><b>${after}</b></td><td class="num ${change === null || Math.abs(change) < 0.005 ? 'dim-text' : ''}">${change === null ? '' : changeText(change)}</td>`}</tr>`,
  );
  const heads = html`${present === null ? '' : html`<th scope="col" class="num">Present settings</th>`}${tried === null ? '' : html`<th scope="col" class="num">Tried</th><th scope="col" class="num">Change</th>`}`;
  return html`<h2>Totals</h2><div class="scroll" tabindex="0" role="region" aria-label="Totals"><table class="totals"><thead><tr><th scope="col">What</th>${heads}</tr></thead><tbody>${body}</tbody></table></div>`;
}

function configLines({ lines, agentId }: WhatIfView): Markup {
  const text =
    lines === null
      ? html`<p class="dim">An operator sees the lines for <code>config.toml</code> here.</p>`
      : html`<p class="dim">Put these lines into <code>config.toml</code>, in the tables that are there already. They apply at the next turn of ${agentId}, without a restart. This page writes nothing.</p><pre tabindex="0" aria-label="Lines for config.toml">${lines}</pre>`;
  return html`<section aria-labelledby="keep"><h2 id="keep">Write to config.toml</h2>${text}</section>`;
}
