import axe from 'axe-core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { useInspectorBrowser, WITHOUT_BROWSER } from '../support/inspector-browser.ts';
import { SIZED, spread } from '../support/size.ts';

/** Every page of the inspector in a real browser; `npm test` opens some of them. */

const axeSchema = z.object({
  violations: z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
});

describe.skipIf(WITHOUT_BROWSER !== '')(`in a browser${WITHOUT_BROWSER}`, () => {
  const { story, open, openShared, visit } = useInspectorBrowser();
  const paths = (count: number) => spread(Object.entries(story().paths), count);

  it.each([
    { colorScheme: 'light', rules: 'axe.run()', few: 5 },
    // The dark scheme changes nothing but colors.
    { colorScheme: 'dark', rules: "axe.run({ runOnly: ['color-contrast'] })", few: 3 },
  ] as const)(
    'every page is accessible in $colorScheme',
    { ...SIZED, timeout: 120_000 },
    async ({ colorScheme, rules, few }) => {
      await open({ colorScheme }, async (page) => {
        for (const [name, path] of paths(few)) {
          expect((await visit(page, path))?.status(), name).toBe(200);
          await page.evaluate(axe.source);
          const { violations } = axeSchema.parse(await page.evaluate(rules));
          const found = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html)}`);
          expect(found, name).toEqual([]);
        }
      });
    },
  );

  it('every page fits a narrow screen', { ...SIZED, timeout: 120_000 }, async () => {
    await open({ viewport: { width: 390, height: 800 } }, async (page) => {
      for (const [name, path] of paths(6)) {
        await visit(page, path);
        const width = z.number().parse(await page.evaluate('document.documentElement.scrollWidth'));
        expect({ name, fits: width <= 390 }).toEqual({ name, fits: true });
      }
    });
  });

  it('the search field shows what is typed on a phone', SIZED, async () => {
    for (const width of [320, 390]) {
      await open({ viewport: { width, height: 800 } }, async (page) => {
        await visit(page, '/');
        const inside = z.number().parse(await page.locator('#find').evaluate((field) => field.clientWidth));
        expect(inside).toBeGreaterThan(width / 2);
      });
    }
  });

  it('labels keep clear of their sliders on a phone', SIZED, async () => {
    await open({ viewport: { width: 320, height: 800 } }, async (page) => {
      await visit(page, story().paths['what-if'] ?? '');
      const labels = page.locator('.trial-field label');
      expect(await labels.count()).toBeGreaterThan(10);
      const cut = await labels.evaluateAll((all) =>
        all.filter((label) => label.scrollWidth > label.clientWidth).map((label) => label.textContent),
      );
      expect(cut).toEqual([]);
    });
  });

  it('every link leads to a page', { ...SIZED, timeout: 120_000 }, async () => {
    await openShared(async (page) => {
      const seen = new Set<string>();
      for (const [, path] of paths(6)) {
        await visit(page, path);
        const links = await page
          .locator('a[href^="/"]')
          .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
        for (const link of links.slice(0, 60)) seen.add(link.split('#')[0] ?? '');
      }
      expect(seen.size).toBeGreaterThan(20);
      for (const link of seen) {
        const response = await page.request.get(new URL(link, story().url).href);
        expect({ link, status: response.status() }).toEqual({ link, status: 200 });
      }
    });
  });

  it('keys move, search and open rows', async () => {
    await openShared(async (page) => {
      await visit(page, '/');
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/c\//u);
      await page.keyboard.press('/');
      await page.keyboard.type('door');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/find\?q=door/u);
      await page.keyboard.press('?');
      expect(await page.locator('#keys').isVisible()).toBe(true);
    });
  });

  it('the theme can be switched and stays', async () => {
    await open({ colorScheme: 'light' }, async (page) => {
      await visit(page, '/');
      await page.locator('[data-theme-toggle]').click();
      await visit(page, '/costs');
      expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    });
  });

  it('pointing at a sentence lights up its messages', async () => {
    await openShared(async (page) => {
      await visit(page, story().paths['summary'] ?? story().paths['layer'] ?? '/');
      await page.locator('[data-sources]:not([data-sources=""])').first().hover();
      expect(await page.locator('.sources li.lit').count()).toBeGreaterThan(0);
    });
  });

  it('filters and the slider keep place and focus', async () => {
    await openShared(async (page) => {
      await visit(page, story().paths['conversation'] ?? '/');
      const filter = page.locator('input[value="gaps"]');
      await filter.scrollIntoViewIfNeeded();
      const before = z.number().parse(await page.evaluate('scrollY'));
      expect(before).toBeGreaterThan(100);
      await filter.uncheck();
      await page.waitForURL(/filtered=1/u);
      await page.waitForFunction('document.activeElement?.value === "gaps"');
      expect(await page.evaluate('scrollY')).toBe(before);
      await page.getByLabel('Look at message').focus();
      for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowLeft');
      await page.waitForURL(/at=/u);
      await page.waitForFunction('document.activeElement?.id === "at"');
      const [from = 0, now = 0] = z.array(z.number()).parse(await page.evaluate('[Number(at.max), Number(at.value)]'));
      expect(from - now).toBe(3);
    });
  });

  it('times grow older while a page is open', async () => {
    await open({}, async (page) => {
      await page.clock.install();
      await visit(page, '/');
      const time = page.locator('table time').first();
      const before = await time.textContent();
      await page.clock.runFor('03:00:00');
      expect(await time.textContent()).not.toBe(before);
    });
  });

  it('a rewritten summary appears without loading again', async () => {
    await openShared(async (page) => {
      await visit(page, story().paths['rewrite'] ?? '/');
      await page.getByLabel('What should it emphasise?').fill('the numbers');
      await page.getByRole('button', { name: 'Rewrite the summary' }).click();
      await page.getByText('Another text replaced this one').waitFor();
      await page.getByRole('link', { name: 'Read it' }).click();
      await page.locator('#rewriting button').waitFor();
      expect(await page.locator('#rewriting button').count()).toBe(1);
    });
  }, 60_000);

  it('a reply runs again beside the old one', async () => {
    await openShared(async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await visit(page, story().paths['reply'] ?? '/');
      await page.getByRole('button', { name: 'Copy' }).nth(1).click();
      await page.getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toContain('max_completion_tokens');
      await page.getByLabel('System prompt').fill('You are a lamp.');
      await page.getByRole('button', { name: 'Run it again' }).click();
      await page.getByText('edited prompt').waitFor();
      await page.evaluate(axe.source);
      const { violations } = axeSchema.parse(await page.evaluate('axe.run()'));
      expect(violations).toEqual([]);
    });
  }, 60_000);

  it('gauge and figures follow the bot', async () => {
    await openShared(async (page) => {
      for (const path of ['/', story().paths['conversation'] ?? '/']) {
        const stream = page.waitForResponse((response) => response.url().includes('/live/'));
        await visit(page, path);
        await stream;
        await story().say();
        await page.getByText('There is something new').waitFor();
        expect(await page.locator('[data-live]').textContent()).toMatch(/Owed replies|of the window/u);
      }
    });
  }, 60_000);

  it('a hidden page holds no connection', async () => {
    await openShared(async (page) => {
      // The stream of the first page ends here and is not counted.
      await page.goto('about:blank');
      const asked: string[] = [];
      page.on('request', (request) => request.url().includes('/live/') && asked.push(request.url()));
      const show = (isHidden: boolean) =>
        page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
            document.dispatchEvent(new Event('visibilitychange'));`);
      const stream = page.waitForRequest((request) => request.url().includes('/live/'));
      await visit(page, '/');
      const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/live/'));
      await stream;
      await show(true);
      await ended;
      expect(asked).toHaveLength(1);
      await Promise.all([page.waitForRequest((request) => request.url().includes('/live/')), show(false)]);
      expect(await page.getByText('There is something new').count()).toBe(0);
    });
  }, 60_000);

  it('everything works without scripts', async () => {
    await open({ javaScriptEnabled: false }, async (page) => {
      await visit(page, `${story().paths['conversation']}`);
      await page.locator('form.filters input[value="messages"]').uncheck();
      await page.getByRole('button', { name: 'Apply' }).click();
      expect(await page.locator('.timeline .message').count()).toBe(0);
      await visit(page, `${story().paths['conversation']}`);
      await page.getByLabel('Look at message').press('Home');
      await page.getByRole('button', { name: 'Go' }).click();
      expect(new URL(page.url()).searchParams.get('at')).toBe('1');
      await visit(page, `${story().paths['conversation']}/what-if`);
      await page.getByLabel('Window', { exact: true }).fill('2000');
      await page.getByRole('button', { name: 'Try it' }).click();
      expect(await page.locator('pre').textContent()).toContain('context_window = 2000');
      await visit(page, story().paths['memory'] ?? '/');
      await page.getByRole('button', { name: 'Pin' }).click();
      expect(await page.getByRole('button', { name: 'Unpin' }).isVisible()).toBe(true);
    });
  });
});
