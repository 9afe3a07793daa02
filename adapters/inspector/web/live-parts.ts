import type { Clock } from '../../../src/adapter-kit.ts';
import { gaugeContent } from './conversation-page.ts';
import type { PageApp, PageContext } from './environment.ts';
import { html, type Markup } from './html.ts';
import { healthStrip } from './overview-page.ts';

/** The part of a page that follows the bot, rendered once for all who look at it. */
export interface LiveParts {
  /** `text` is null while there is none yet. `staleMs`: when to ask again; 0 if the text is new. */
  get(name: string, render: () => Promise<Markup>): Promise<LivePart>;
}

export interface LivePart {
  readonly text: string | null;
  readonly staleMs: number;
}

/** Share of the time of the process that all parts together may take. */
const SHARE = 0.02;
const MIN_AGE_MS = 1000;
/** On a machine that is busy with something else, a part takes long without working. */
const MAX_PAUSE_MS = 5000;
const MAX_KEPT = 200;

/** Rendering waits after each part so long that viewers never take more than their share from the bot. */
export function createLiveParts({ now }: Pick<Clock, 'now'>): LiveParts {
  const kept = new Map<string, { readonly text: string; readonly at: number }>();
  let freeAt = 0;
  let rendering = false;
  const renderNow = async (name: string, render: () => Promise<Markup>): Promise<LivePart> => {
    rendering = true;
    const startedAt = now();
    try {
      const text = String(await render());
      kept.delete(name);
      kept.set(name, { text, at: now() });
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      return { text, staleMs: 0 };
    } finally {
      rendering = false;
      freeAt = now() + Math.min(MAX_PAUSE_MS, (now() - startedAt) / SHARE);
    }
  };
  return {
    async get(name, render) {
      const known = kept.get(name);
      const oldEnoughAt = known === undefined ? 0 : known.at + MIN_AGE_MS;
      const waitMs = Math.max(freeAt, oldEnoughAt) - now();
      if (waitMs <= 0 && !rendering) return await renderNow(name, render);
      return { text: known?.text ?? null, staleMs: Math.max(MIN_AGE_MS, Math.ceil(waitMs)) };
    },
  };
}

export function addLiveParts(app: PageApp, parts: LiveParts): void {
  app.get('/live/health', async (c) => {
    const health = () => c.get('inspection').health();
    return answer(c, await parts.get('health', async () => healthStrip(await health())));
  });
  app.get('/live/gauge/:key', async (c) => {
    const key = c.req.param('key');
    const { viewer } = c.get('visit');
    const { conversations } = c.get('inspection');
    const part = await parts.get(`gauge ${viewer.role} ${key}`, async () => {
      const view = await conversations.gauge({ viewer, key });
      return view.row.reading.gauge === null ? html`` : gaugeContent(view, view.row.reading.gauge);
    });
    return answer(c, part);
  });
}

function answer(c: PageContext, { text, staleMs }: LivePart): Response {
  c.header('x-stale-ms', String(staleMs));
  return text === null ? c.body(null, 204) : c.html(text);
}
