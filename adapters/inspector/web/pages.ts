import { conversationBody } from './conversation-page.ts';
import type { PageApp, PageContext } from './environment.ts';
import { findBody } from './find-page.ts';
import { page } from './layout.ts';
import { overviewBody } from './overview-page.ts';
import { numberOf } from './parameters.ts';
import { summaryBody } from './summary-page.ts';
import { EVENT_KINDS, type EventKind } from './timeline.ts';

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
  app.get('/c/:key', async (c) => {
    const key = c.req.param('key');
    const visit = c.get('visit');
    const view = await c
      .get('inspection')
      .conversation({ viewer: visit.viewer, key, atSeq: numberOf(c.req.query('at')) });
    const body = conversationBody(view, { hidden: hiddenIn(c) });
    return c.html(page({ title: key, visit, section: 'conversations', body }));
  });
  app.get('/c/:key/s/:id', async (c) => {
    const { key, id } = c.req.param();
    const visit = c.get('visit');
    const view = await c.get('inspection').summary({ viewer: visit.viewer, key, id });
    const title = `#${view.summary.fromSeq}–#${view.summary.toSeq} of ${key}`;
    return c.html(page({ title, visit, section: 'conversations', body: summaryBody(view) }));
  });
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
