import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { etag } from 'hono/etag';
import { z } from 'zod';
import { packageFile } from '../../../../src/adapter-kit.ts';

interface Asset {
  /** Paths of the files that are joined into this one. */
  readonly files: readonly string[];
  readonly type: string;
  /** The name changes with the version, so browsers can cache the file forever. */
  readonly isFixed: boolean;
}

const require = createRequire(import.meta.url);
const { version } = z.object({ version: z.string() }).parse(require('uplot/package.json'));

/** Files of pages with charts: uPlot from its package, and the modules that `charts.js` imports. */
export const CHART_FILES = {
  style: `uplot-${version}.css`,
  script: `uplot-${version}.js`,
  modules: ['chart-drawing.js', 'chart-finer.js', 'chart-overlay.js', 'chart-zoom.js'],
} as const;

const STYLE = { type: 'text/css; charset=utf-8' };
const SCRIPT = { type: 'text/javascript; charset=utf-8' };

const ASSETS: Readonly<Record<string, Asset>> = {
  'style.css': {
    ...STYLE,
    files: own('base.css', 'parts.css', 'pages.css', 'charts.css', 'summary.css', 'trial.css'),
    isFixed: false,
  },
  ...scripts('script.js', 'charts.js', ...CHART_FILES.modules),
  [CHART_FILES.style]: { ...STYLE, files: [require.resolve('uplot/dist/uPlot.min.css')], isFixed: true },
  [CHART_FILES.script]: { ...SCRIPT, files: [require.resolve('uplot/dist/uPlot.iife.min.js')], isFixed: true },
};

function scripts(...names: readonly string[]): Readonly<Record<string, Asset>> {
  return Object.fromEntries(names.map((name) => [name, { ...SCRIPT, files: own(name), isFixed: false }]));
}

function own(...names: readonly string[]): readonly string[] {
  return names.map((name) => packageFile(`assets/inspector/${name}`));
}

/** Style sheets and scripts. Each is read when it is first requested. */
export function assets(): Hono {
  const read = new Map<string, Promise<string>>();
  const app = new Hono();
  app.use(compress(), etag());
  app.get('/:name', async (c) => {
    const name = c.req.param('name');
    const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
    if (asset === undefined) return c.text('There is no such file.\n', 404);
    const text = read.get(name) ?? readAll(asset.files);
    read.set(name, text);
    c.header('cache-control', asset.isFixed ? 'public, max-age=31536000, immutable' : 'no-cache');
    return c.body(await text, 200, { 'content-type': asset.type });
  });
  return app;
}

async function readAll(files: readonly string[]): Promise<string> {
  const texts = files.map((file) => readFile(file, 'utf8'));
  return (await Promise.all(texts)).join('\n');
}
