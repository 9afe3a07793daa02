import { readFile } from 'node:fs/promises';
import { Hono } from 'hono';
import { packageFile } from '../../../src/adapter-kit.ts';

interface Asset {
  /** Sent one after the other. */
  readonly files: readonly string[];
  readonly type: string;
}

const ASSETS: Readonly<Record<string, Asset>> = {
  'style.css': {
    files: ['base.css', 'parts.css', 'pages.css', 'charts.css', 'summary.css', 'trial.css'],
    type: 'text/css; charset=utf-8',
  },
  'script.js': { files: ['script.js', 'charts.js'], type: 'text/javascript; charset=utf-8' },
};

/** Style sheet and script. Each is read once. */
export function assets(): Hono {
  const read = new Map<string, Promise<string>>();
  const app = new Hono();
  app.get('/:name', async (c) => {
    const name = c.req.param('name');
    const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
    if (asset === undefined) return c.text('There is no such file.\n', 404);
    const text = read.get(name) ?? readAll(asset.files);
    read.set(name, text);
    c.header('cache-control', 'no-cache');
    return c.body(await text, 200, { 'content-type': asset.type });
  });
  return app;
}

async function readAll(files: readonly string[]): Promise<string> {
  const texts = files.map((name) => readFile(packageFile(`assets/inspector/${name}`), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}
