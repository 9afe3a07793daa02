import { addConversationPages } from './conversation-routes.ts';
import { addMemoryPages } from './memory-routes.ts';
import { costsBody } from './pages/costs-page.ts';
import { findBody } from './pages/find-page.ts';
import { page } from './pages/layout.ts';
import { overviewBody } from './pages/overview-page.ts';
import { promptBody } from './pages/prompt-page.ts';
import { auditBody, settingsBody } from './pages/settings-page.ts';
import type { PageApp } from './serving/environment.ts';
import { numberOf } from './serving/parameters.ts';

const MAX_FILTER_LENGTH = 100;

export function addPages(app: PageApp): void {
  app.get('/', async (c) => {
    const inspection = c.get('inspection');
    const visit = c.get('visit');
    const query = { viewer: visit.viewer, afterId: numberOf(c.req.query('after')) };
    const [list, health] = await Promise.all([inspection.conversations.list(query), inspection.health()]);
    const body = overviewBody(list, health);
    return c.html(page({ title: 'Conversations', visit, section: 'conversations', body }));
  });
  app.get('/find', async (c) => {
    const text = c.req.query('q') ?? '';
    const visit = c.get('visit');
    const start = { afterId: numberOf(c.req.query('after')), named: numberOf(c.req.query('named')) ?? 0 };
    const found = await c.get('inspection').find({ viewer: visit.viewer, text, start });
    return c.html(page({ title: 'Search', visit, section: 'conversations', find: text, body: findBody(text, found) }));
  });
  app.get('/costs', async (c) => {
    const visit = c.get('visit');
    const wanted = numberOf(c.req.query('days') ?? '30');
    const days = wanted === null || wanted === 0 ? null : wanted;
    const body = costsBody(await c.get('inspection').costs({ viewer: visit.viewer, days }), days);
    return c.html(page({ title: 'Costs', visit, section: 'costs', body, hasCharts: true }));
  });
  app.get('/settings', async (c) => {
    const visit = c.get('visit');
    const { q = '', changed } = c.req.query();
    const filter = { text: q.slice(0, MAX_FILTER_LENGTH), isChanged: changed === '1' };
    const body = settingsBody(await c.get('inspection').settings({ viewer: visit.viewer, filter }), filter);
    return c.html(page({ title: 'Settings', visit, section: 'settings', body }));
  });
  app.get('/settings/prompts/:agentId/:name', async (c) => {
    const visit = c.get('visit');
    const key = c.req.query('conversation') ?? null;
    const view = await c.get('inspection').prompt({ viewer: visit.viewer, ...c.req.param(), key });
    return c.html(page({ title: `Prompt ${view.name}`, visit, section: 'settings', body: promptBody(view) }));
  });
  app.get('/audit', async (c) => {
    const body = auditBody(await c.get('inspection').audit());
    return c.html(page({ title: 'Changes', visit: c.get('visit'), section: 'audit', body }));
  });
  addConversationPages(app);
  addMemoryPages(app);
}
