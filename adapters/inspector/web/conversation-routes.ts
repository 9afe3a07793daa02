import { BODY_FORMS, providerBody, type WhatIfView } from '../../../src/adapter-kit.ts';
import { historyPoints } from './charts/history-chart.ts';
import { conversationPath, type Markup, nothing } from './markup/html.ts';
import { contextBody } from './pages/context-page.ts';
import { conversationBody } from './pages/conversation-page.ts';
import { page } from './pages/layout.ts';
import { replyBody } from './pages/reply-page.ts';
import { rerunBody, rerunIn } from './pages/rerun-page.ts';
import { summaryBody } from './pages/summary-page.ts';
import { EVENT_KINDS, type EventKind } from './pages/timeline.ts';
import { whatIfBody } from './pages/what-if-page.ts';
import type { PageApp, PageContext } from './serving/environment.ts';
import { numberOf } from './serving/parameters.ts';

export function addConversationPages(app: PageApp): void {
  app.get('/c/:key', async (c) => {
    const key = c.req.param('key');
    const visit = c.get('visit');
    const { conversations } = c.get('inspection');
    const view = await conversations.one({ viewer: visit.viewer, key, atSeq: numberOf(c.req.query('at')) });
    const body = conversationBody(view, { hidden: hiddenIn(c) });
    return c.html(page({ title: key, visit, section: 'conversations', body, hasCharts: true }));
  });
  app.get('/c/:key/history', async (c) => c.html(await historyIn(c, c.req.param('key'))));
  app.get('/c/:key/s/:id', async (c) => {
    const { key, id } = c.req.param();
    const visit = c.get('visit');
    const view = await c.get('inspection').conversations.summary({ viewer: visit.viewer, key, id });
    const title = `#${view.summary.fromSeq}–#${view.summary.toSeq} of ${key}`;
    return c.html(page({ title, visit, section: 'conversations', body: summaryBody(view, visit.formToken) }));
  });
  app.post('/c/:key/s/:id', async (c) => {
    const { wish } = await c.req.parseBody();
    const query = { viewer: c.get('visit').viewer, ...c.req.param(), wish: typeof wish === 'string' ? wish : '' };
    await c.get('inspection').conversations.rewrite(query);
    return c.redirect(conversationPath(query.key, `/s/${encodeURIComponent(query.id)}`), 303);
  });
  app.get('/c/:key/r/:seq', async (c) => {
    const visit = c.get('visit');
    const view = await c.get('inspection').conversations.reply(replyIn(c, c.req.param()));
    const title = `Why #${view.explained.seq}`;
    return c.html(page({ title, visit, section: 'conversations', body: replyBody(view, visit.formToken) }));
  });
  app.post('/c/:key/r/:seq', async (c) => {
    const visit = c.get('visit');
    const form = await c.req.parseBody();
    const query = { ...replyIn(c, c.req.param()), ...rerunIn(form), signal: c.req.raw.signal };
    const view = await c.get('inspection').conversations.rerun(query);
    const body = rerunBody(view, visit.formToken);
    return c.html(page({ title: `#${view.reply.explained.seq} again`, visit, section: 'conversations', body }));
  });
  app.get('/c/:key/r/:seq/request.json', async (c) => {
    const { explained } = await c.get('inspection').conversations.reply(replyIn(c, c.req.param()));
    const form = BODY_FORMS.find((known) => known === c.req.query('as'));
    return c.json(form === undefined ? explained.request : providerBody(form, explained));
  });
  app.get('/c/:key/context', async (c) => {
    const key = c.req.param('key');
    const visit = c.get('visit');
    const body = contextBody(await c.get('inspection').conversations.context({ viewer: visit.viewer, key }));
    return c.html(page({ title: `The request of ${key}`, visit, section: 'conversations', body }));
  });
  app.get('/c/:key/what-if', async (c) => {
    const key = c.req.param('key');
    const visit = c.get('visit');
    const body = whatIfBody(await whatIfIn(c, key), { isDrawn: true });
    return c.html(page({ title: `What if, ${key}`, visit, section: 'conversations', body, hasCharts: true }));
  });
  app.get('/c/:key/what-if/outcome', async (c) =>
    c.html(whatIfBody(await whatIfIn(c, c.req.param('key')), { isDrawn: false })),
  );
}

async function historyIn(c: PageContext, key: string): Promise<Markup> {
  const [atSeq = null, from = null, to = null] = ['at', 'from', 'to'].map((name) => numberOf(c.req.query(name)));
  const momentsIn = { fromSeq: from ?? 1, toSeq: to ?? Number.POSITIVE_INFINITY };
  const { viewer } = c.get('visit');
  const view = await c.get('inspection').conversations.one({ viewer, key, atSeq, momentsIn });
  const { gauge } = view.row.reading;
  return gauge === null ? nothing : historyPoints(view, gauge);
}

function whatIfIn(c: PageContext, key: string): Promise<WhatIfView> {
  const { viewer } = c.get('visit');
  return c.get('inspection').conversations.whatIf({ viewer, key, values: c.req.query() });
}

function replyIn(c: PageContext, { key, seq }: { readonly key: string; readonly seq: string }) {
  return { viewer: c.get('visit').viewer, key, seq: numberOf(seq) ?? 0 };
}

/** A sent form names what to show, a link what to hide. */
function hiddenIn(c: PageContext): ReadonlySet<EventKind> {
  if (c.req.query('filtered') === undefined) {
    const named = (c.req.query('hide') ?? '').split(',');
    return new Set(EVENT_KINDS.filter((kind) => named.includes(kind)));
  }
  const shown = c.req.queries('show') ?? [];
  return new Set(EVENT_KINDS.filter((kind) => !shown.includes(kind)));
}
