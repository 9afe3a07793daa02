import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { historyChart } from '../../../adapters/inspector/web/charts/history-chart.ts';
import { type Plot, plotData } from '../../../adapters/inspector/web/charts/plot.ts';
import { CHART_FILES } from '../../../adapters/inspector/web/serving/assets.ts';
import type { SummaryId } from '../../../src/domain/message.ts';
import { createInspection } from '../../../src/inspection/inspection.ts';
import { faithful, scriptedModel } from '../../core/compaction/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

let inspected: InspectorWorld;
let path: string;

beforeAll(async () => {
  inspected = await createInspectorWorld({ models: [scriptedModel(faithful)] });
  path = `/c/${encodeURIComponent(inspected.world.key)}`;
  await inspected.world.say('The lantern hangs behind the door.');
  await inspected.world.settled();
});
afterAll(async () => {
  await inspected[Symbol.asyncDispose]();
});

const assetUrl = (name: string) => `${inspected.base}/assets/${name}`;
const dataIn = (text: string) => /<script type="application\/json" data-plot>([^<]*)<\/script>/u.exec(text)?.[1] ?? '';

describe('the files of charts', () => {
  it('are named only by pages with charts', async () => {
    const page = await inspected.page(path);
    for (const name of [CHART_FILES.style, CHART_FILES.script, 'charts.js', ...CHART_FILES.modules]) {
      expect(page).toContain(`/assets/${name}"`);
      expect((await fetch(assetUrl(name))).status).toBe(200);
    }
    for (const other of ['/', '/memories', `${path}/context`]) {
      expect(await inspected.page(other)).not.toContain('uplot');
    }
  });

  it('of uPlot are kept for long, named by version', async () => {
    const script = await fetch(assetUrl(CHART_FILES.script));
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await script.text()).length).toBeGreaterThan(40_000);
    expect((await fetch(assetUrl('uplot-0.0.1.js'))).status).toBe(404);
  });

  it('of the inspector are sent again only if changed', async () => {
    const tag = (await fetch(assetUrl('charts.js'))).headers.get('etag') ?? '';
    const again = await fetch(assetUrl('charts.js'), { headers: { 'if-none-match': tag } });
    expect({ status: again.status, text: await again.text() }).toEqual({ status: 304, text: '' });
    expect(again.headers.get('cache-control')).toBe('no-cache');
  });

  it('travel compressed', async () => {
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      const headers = { 'accept-encoding': 'gzip' };
      request(assetUrl(CHART_FILES.script), { headers }, (response) => resolve(buffer(response)))
        .on('error', reject)
        .end();
    });
    expect(bytes.length).toBeLessThan(25_000);
    expect(gunzipSync(bytes).toString()).toBe(await (await fetch(assetUrl(CHART_FILES.script))).text());
  });
});

const rowSchema = z.tuple([z.string(), z.string(), z.array(z.array(z.unknown()))]);

describe('the data of a chart', () => {
  const plot: Plot = {
    label: '</script><script>alert(1)</script>',
    caption: '',
    unit: 'share',
    style: 'bars',
    axis: 'points',
    width: 1200,
    height: 100,
    range: [0, 1],
    most: 1,
    edges: [0, 1],
    points: ['a'],
    texts: ['<b>'],
    opens: false,
    chosen: null,
    series: [],
    thresholds: null,
    rows: [],
  };

  it('cannot end its element', () => {
    const data = dataIn(String(plotData(plot, { withTexts: true })));
    expect(JSON.parse(data)).toMatchObject({ label: plot.label, texts: plot.texts });
  });

  it('tells what each of many marks is', () => {
    const items = Array.from({ length: 101 }, (_, seq) => ({
      from: seq,
      to: seq,
      style: 'mark',
      text: `${seq}`,
      id: null,
    }));
    const data = dataIn(String(plotData({ ...plot, rows: [{ name: 'jobs', path: '', items }] }, { withTexts: false })));
    const { rows } = z.object({ rows: z.array(rowSchema) }).parse(JSON.parse(data));
    expect(rows[0]?.[2].at(-1)).toMatchObject({ 3: '100' });
  });

  it('repeats no text of the drawing', async () => {
    const page = await inspected.page(path);
    expect(page).toContain('#1: ');
    expect(dataIn(page)).not.toContain('#1: ');
    const redrawn = await inspected.page(`${path}/what-if/outcome?compaction.background_threshold=0.5`);
    expect(dataIn(redrawn)).toContain('#1: ');
    expect(redrawn).not.toContain('viewBox');
    expect(redrawn).not.toContain('<html');
  });

  it('of very many layers stays small', async () => {
    const { conversations } = createInspection({ services: inspected.world.bot.commandServices, configRows: () => [] });
    const viewer = { name: 'ada', role: 'operator' } as const;
    const view = await conversations.one({ viewer, key: inspected.world.key, atSeq: null });
    const { gauge } = view.row.reading;
    if (gauge === null) throw new Error('There is no gauge.');
    const layers = Array.from({ length: 1000 }, (_, index) => ({
      id: crypto.randomUUID() as SummaryId,
      kind: 'summary' as const,
      level: 0,
      fromSeq: 2 * index + 1,
      toSeq: 2 * index + 2,
      tokens: 100,
      stale: false,
      createdAt: 0,
      since: 0,
      leftAt: null,
    }));
    const chart = String(historyChart({ ...view, layers, shown: { fromSeq: 1, toSeq: 2000 } }, gauge));
    const { rows } = z.object({ rows: z.array(rowSchema) }).parse(JSON.parse(dataIn(chart)));
    expect(rows.map(([name, , items]) => [name, items.length])).toEqual([
      ['jobs', 0],
      ['L0', 1000],
      ['whole', 0],
    ]);
    expect(chart.length).toBeLessThan(130_000);
  });
});
