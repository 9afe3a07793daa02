import type { PageApp } from './environment.ts';
import { findBody } from './find-page.ts';
import { page } from './layout.ts';
import { overviewBody } from './overview-page.ts';
import { numberOf } from './parameters.ts';

export function addPages(app: PageApp): void {
  app.get('/', async (c) => {
    const inspection = c.get('inspection');
    const afterId = numberOf(c.req.query('after'));
    const [list, health] = await Promise.all([inspection.conversations({ afterId }), inspection.health()]);
    return c.html(
      page({
        title: 'Conversations',
        visit: c.get('visit'),
        section: 'conversations',
        body: overviewBody(list, health),
      }),
    );
  });
  app.get('/find', async (c) => {
    const text = c.req.query('q') ?? '';
    const visit = c.get('visit');
    const found = await c.get('inspection').find(visit.viewer, text);
    return c.html(page({ title: 'Search', visit, section: 'conversations', find: text, body: findBody(text, found) }));
  });
}
