import { startInspector } from '../../adapters/inspector/web/index.ts';
import type { InspectorOptions, Operations } from '../../src/adapter-kit.ts';
import { generalDefaults } from '../../src/config/defaults.ts';
import { createInspection } from '../../src/inspection/inspection.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import { type BotWorld, type BotWorldOptions, createBotWorld } from './bot-world.ts';

/** A bot with its inspector, asked over HTTP. */
export interface InspectorWorld extends AsyncDisposable {
  readonly world: BotWorld;
  readonly inspector: Operations;
  /** The address without the key. */
  readonly base: string;
  readonly opened: { count: number };
  /** A page, as somebody with the printed address sees it. */
  page(path: string): Promise<string>;
  /** Fetches with the cookie of that session. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a form with the token of the page that shows it. */
  send(path: string, form: Readonly<Record<string, string>>, from?: string): Promise<Response>;
}

export interface InspectorWorldOptions extends BotWorldOptions {
  readonly settings?: Partial<InspectorOptions['settings']>;
}

export async function createInspectorWorld(options: InspectorWorldOptions): Promise<InspectorWorld> {
  const world = await createBotWorld(options);
  const opened = { count: 0 };
  const inspector = await startInspector({
    settings: { ...generalDefaults.inspector, ...options.settings },
    open: async () => {
      opened.count += 1;
      return createInspection({ services: world.bot.commandServices, configRows: () => [] });
    },
    clock: world.clock,
    log: silentLog,
  });
  const base = new URL(inspector.url).origin;
  let cookie: string | null = null;
  const fetchPage = async (path: string, init: RequestInit = {}): Promise<Response> => {
    cookie ??= await cookieOf(inspector.url);
    return await fetch(`${base}${path}`, { redirect: 'manual', ...init, headers: { cookie, ...init.headers } });
  };
  const page = async (path: string): Promise<string> => {
    const response = await fetchPage(path);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 2000)}`);
    return text;
  };
  return {
    world,
    inspector,
    base,
    opened,
    page,
    fetch: fetchPage,
    async send(path, form, from = path) {
      const token = /name="token" value="([^"]+)"/u.exec(await page(from))?.[1] ?? '';
      const body = new URLSearchParams({ token, ...form });
      return await fetchPage(path, { method: 'POST', body, headers: { origin: base } });
    },
    async [Symbol.asyncDispose]() {
      await inspector.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

/** Opens the printed address and returns the cookie of the session. */
async function cookieOf(url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'manual' });
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}
