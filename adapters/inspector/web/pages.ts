import { addConversationPages } from './conversation-routes.ts';
import { costsBody } from './costs-page.ts';
import type { PageApp } from './environment.ts';
import { findBody } from './find-page.ts';
import { page } from './layout.ts';
import { addMemoryPages } from './memory-routes.ts';
import { overviewBody } from './overview-page.ts';
import { numberOf } from './parameters.ts';
import { auditBody, settingsBody } from './settings-page.ts';

export function addPages(app: PageApp): void {
  app.get('/', async (c) => {
    const inspection = c.get('inspection');
    const afterId = numberOf(c.req.query('after'));
    const [list, health] = await Promise.all([inspection.conversations.list({ afterId }), inspection.health()]);
    const body = overviewBody(list, health);
    return c.html(page({ title: 'Conversations', visit: c.get('visit'), section: 'conversations', body }));
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
    return c.html(page({ title: 'Costs', visit, section: 'costs', body }));
  });
  app.get('/settings', (c) => {
    const visit = c.get('visit');
    const body = settingsBody(c.get('inspection').settings(visit.viewer));
    return c.html(page({ title: 'Settings', visit, section: 'settings', body }));
  });
  app.get('/audit', async (c) => {
    const body = auditBody(await c.get('inspection').audit());
    return c.html(page({ title: 'Changes', visit: c.get('visit'), section: 'audit', body }));
  });
  addConversationPages(app);
  addMemoryPages(app);
}
