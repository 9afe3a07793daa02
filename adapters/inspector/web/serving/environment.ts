import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { Inspection } from '../../../../src/adapter-kit.ts';
import type { Visit } from './access.ts';

/** What every page gets. */
export interface PageEnvironment {
  readonly Bindings: HttpBindings;
  readonly Variables: { readonly visit: Visit; readonly inspection: Inspection };
}
export type PageContext = Context<PageEnvironment>;
export type PageApp = Hono<PageEnvironment>;
