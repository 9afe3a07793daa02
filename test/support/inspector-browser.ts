import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { chromiumPath, openChromium } from '../../tools/chromium.ts';
import { type InspectedStory, tellStory } from '../../tools/inspector-story.ts';

const executable = chromiumPath();

/** For the title of a suite; empty where there is a browser. */
export const WITHOUT_BROWSER = executable === null ? ' (skipped: there is no Chromium)' : '';

type ContextOptions = Parameters<Browser['newContext']>[0];

/** The inspector in a real browser. Errors that the browser reports fail the test. */
export interface InspectorBrowser {
  readonly story: () => InspectedStory;
  /** A signed-in page of a browser with these options. */
  open(options: ContextOptions, work: (page: Page) => Promise<void>): Promise<void>;
  /** A page of the shared browser, for tests that leave no data in it. */
  openShared(work: (page: Page) => Promise<void>): Promise<void>;
  visit(page: Page, path: string): ReturnType<Page['goto']>;
}

/** To be called within a suite. */
export function useInspectorBrowser({ messages = 40 } = {}): InspectorBrowser {
  const opened = Promise.withResolvers<{ story: InspectedStory; browser: Browser; signedIn: BrowserContext }>();
  let told: InspectedStory | null = null;
  const story = () => {
    if (told === null) throw new Error('The story is not told yet.');
    return told;
  };
  const signIn = async (page: Page): Promise<void> => {
    await page.goto(story().url);
    await page.waitForURL((url) => url.search === '');
  };
  beforeAll(async () => {
    told = await tellStory({ messages });
    const browser = await openChromium(executable ?? '');
    const signedIn = await browser.newContext();
    await inPage(signedIn, signIn);
    opened.resolve({ story: told, browser, signedIn });
  }, 120_000);
  afterAll(async () => {
    await (await opened.promise).browser.close();
    await told?.[Symbol.asyncDispose]();
  });
  return {
    story,
    async open(options, work) {
      const context = await (await opened.promise).browser.newContext(options);
      try {
        await inPage(context, async (page) => {
          await signIn(page);
          await work(page);
        });
      } finally {
        await context.close();
      }
    },
    openShared: async (work) => await inPage((await opened.promise).signedIn, work),
    visit: (page, path) => page.goto(new URL(path, story().url).href),
  };
}

async function inPage(context: BrowserContext, work: (page: Page) => Promise<void>): Promise<void> {
  const page = await context.newPage();
  try {
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await work(page);
    expect(complaints).toEqual([]);
  } finally {
    await page.close();
  }
}
