import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { conversationPath, makeKey } from '../../src/adapter-kit.ts';
import { chromiumPath, openChromium } from '../../tools/chromium.ts';
import { scriptedModel } from '../core/compaction/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../support/inspector-world.ts';
import { SIZED, spread } from '../support/size.ts';

/** Names and addresses that a browser has to cope with. */

const executable = chromiumPath();
const key = makeKey({ platform: 'test', workspace: 'here', channel: `${'c'.repeat(200)}<script>alert(1)</script>` });

describe.skipIf(executable === null)(
  `odd names in a browser${executable === null ? ' (skipped: there is no Chromium)' : ''}`,
  () => {
    let inspected: InspectorWorld;
    let browser: Browser;

    beforeAll(async () => {
      inspected = await createInspectorWorld({
        models: [scriptedModel(() => ({ text: 'I see.' }))],
        settings: { password: 'tide' },
      });
      const author = { id: 'u1', name: 'דנה', kind: 'person' } as const;
      await inspected.world.say('אני אלרגית לבוטנים. הקוד הוא 4711.', { author, key });
      await inspected.world.settled();
      await inspected.world.command('memory remember', { text: `<script>alert(2)</script> ${'w'.repeat(300)}` });
      browser = await openChromium(executable ?? '');
    }, 60_000);
    afterAll(async () => {
      await browser.close();
      await inspected[Symbol.asyncDispose]();
    });

    async function open(width: number, work: (page: Page) => Promise<void>): Promise<void> {
      const context = await browser.newContext({ viewport: { width, height: 800 } });
      try {
        const page = await context.newPage();
        const complaints: string[] = [];
        page.on('dialog', (dialog) => void complaints.push(dialog.message()));
        page.on('pageerror', (error) => void complaints.push(String(error)));
        await work(page);
        expect(complaints).toEqual([]);
      } finally {
        await context.close();
      }
    }

    async function signIn(page: Page): Promise<void> {
      await page.goto(inspected.inspector.url);
      await page.waitForURL((url) => url.search === '');
    }

    it.each(spread([390, 1280], 1))('fit a screen of %i pixels', { ...SIZED, timeout: 60_000 }, async (width) => {
      await open(width, async (page) => {
        await signIn(page);
        const here = conversationPath(key);
        const pages = ['/', here, `${here}/r/2`, `${here}/context`, `${here}/what-if`, '/memories'];
        for (const path of [...pages, `/memories?place=${encodeURIComponent(key)}`, '/settings/prompts/main/persona']) {
          expect((await page.goto(`${inspected.base}${path}`))?.status(), path).toBe(200);
          const found = z.number().parse(await page.evaluate('document.documentElement.scrollWidth'));
          expect({ path, fits: found <= width }).toEqual({ path, fits: true });
        }
      });
    });

    it('do not turn around what follows them', async () => {
      await open(1280, async (page) => {
        await signIn(page);
        await page.goto(`${inspected.base}${conversationPath(key)}`);
        const name = await page.locator('#m1 b').boundingBox();
        const time = await page.locator('#m1 time').boundingBox();
        const first = await page.locator('#m1').evaluate((item) => {
          const text = item.querySelector('time')?.firstChild ?? item;
          const range = item.ownerDocument.createRange();
          range.setStart(text, 0);
          range.setEnd(text, 1);
          return range.getBoundingClientRect().left;
        });
        expect(first).toBeGreaterThanOrEqual((name?.x ?? 0) + (name?.width ?? 0));
        expect(first).toBeCloseTo(time?.x ?? 0, 0);
      });
    });

    it('a link on another site keeps the session', async () => {
      await open(1280, async (page) => {
        await signIn(page);
        const wanted = `${inspected.base}${conversationPath(key)}?at=1`;
        await page.route('http://elsewhere.example/', (route) =>
          route.fulfill({ contentType: 'text/html', body: `<a href="${wanted.replaceAll('&', '&amp;')}">bot</a>` }),
        );
        await page.goto('http://elsewhere.example/');
        await page.getByText('bot').click();
        await page.locator('#m1').waitFor();
        expect(page.url()).toBe(wanted);
      });
    });

    it('without a session, the page comes after signing in', async () => {
      await open(1280, async (page) => {
        const wanted = `${inspected.base}${conversationPath(key)}?at=1`;
        await page.goto(wanted);
        await page.getByLabel('Password').fill('tide');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.locator('#m1').waitFor();
        expect(page.url()).toBe(wanted);
      });
    });

    it('a slider leads to signing in after the session', async () => {
      await open(1280, async (page) => {
        await signIn(page);
        await page.goto(`${inspected.base}${conversationPath(key)}/what-if`);
        await page.request.post(`${inspected.base}/logout`, { headers: { origin: inspected.base } });
        await page.locator('[data-for="f-compaction-background_threshold"]').focus();
        await page.keyboard.press('ArrowLeft');
        await page.getByLabel('Password').waitFor();
      });
    });
  },
);
