import { AUDIENCES, MEMORY_KINDS, MEMORY_STATES, type MemoryFilter } from '../../../src/adapter-kit.ts';
import { conversationPath } from './markup/html.ts';
import { page } from './pages/layout.ts';
import { forgetBody, memoriesBody } from './pages/memories-page.ts';
import { memoryBody } from './pages/memory-page.ts';
import type { PageApp, PageContext } from './serving/environment.ts';
import { numberOf } from './serving/parameters.ts';

export function addMemoryPages(app: PageApp): void {
  app.get('/memories', async (c) => {
    const visit = c.get('visit');
    const filter = filterIn(c);
    const place = c.req.query('place') ?? '';
    const key = place === '' ? null : place;
    const asGraph = c.req.query('view') === 'graph';
    const view = await c.get('inspection').memories.list({ viewer: visit.viewer, key, filter });
    return c.html(
      page({ title: 'Memories', visit, section: 'memories', body: memoriesBody(view, { filter, asGraph }) }),
    );
  });
  app.get('/c/:key/m/:id', async (c) => {
    const visit = c.get('visit');
    const view = await c.get('inspection').memories.one({ viewer: visit.viewer, ...c.req.param() });
    return c.html(page({ title: 'A memory', visit, section: 'memories', body: memoryBody(view, visit.formToken) }));
  });
  app.post('/c/:key/m/:id', async (c) => {
    const { action, text } = await c.req.parseBody();
    const query = { viewer: c.get('visit').viewer, ...c.req.param() };
    await c.get('inspection').memories.change({ ...query, action: textOf(action), text: textOf(text) });
    return c.redirect(conversationPath(query.key, `/m/${query.id}`), 303);
  });
  app.get('/c/:key/m/:id/forget', async (c) => {
    const visit = c.get('visit');
    const query = { viewer: visit.viewer, ...c.req.param() };
    const preview = await c.get('inspection').memories.previewForget(query);
    const body = forgetBody(preview, { ...query, formToken: visit.formToken });
    return c.html(page({ title: 'Forget', visit, section: 'memories', body }));
  });
  app.post('/c/:key/m/:id/forget', async (c) => {
    const { confirm } = await c.req.parseBody();
    const query = { viewer: c.get('visit').viewer, ...c.req.param() };
    await c.get('inspection').memories.forget({ ...query, token: textOf(confirm) });
    return c.redirect(`/memories?place=${encodeURIComponent(query.key)}`, 303);
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function filterIn(c: PageContext): MemoryFilter {
  const { q = '', kind, state, audience, person = '', age } = c.req.query();
  return {
    text: q.slice(0, MAX_TEXT_LENGTH),
    kind: MEMORY_KINDS.find((known) => known === kind) ?? null,
    state: MEMORY_STATES.find((known) => known === state) ?? null,
    audience: AUDIENCES.find((known) => known === audience) ?? null,
    personId: person === '' ? null : person,
    maxAgeDays: numberOf(age),
  };
}

const MAX_TEXT_LENGTH = 200;
