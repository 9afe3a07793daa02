import axe from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { useInspectorBrowser, WITHOUT_BROWSER } from '../support/inspector-browser.ts';

/** The charts of the inspector as uPlot draws them, in a real browser. */

const axeSchema = z.object({ violations: z.array(z.object({ id: z.string() })) });

describe.skipIf(WITHOUT_BROWSER !== '')(`charts in a browser${WITHOUT_BROWSER}`, () => {
  const { story, open, openShared, visit } = useInspectorBrowser();
  const path = (name: string) => story().paths[name] ?? '/';
  const chartPaths = () => [path('conversation'), path('costs'), path('what-if')];

  const drawnIn = (page: Page) => page.locator('figure.chart:has(.uplot canvas)');
  const readout = (chart: Locator) => chart.locator('figcaption');
  const keysOf = (chart: Locator) => chart.getByRole('slider');

  async function centreOf(
    locator: Locator,
  ): Promise<{ readonly x: number; readonly y: number; readonly width: number }> {
    const { x, y, width, height } = (await locator.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    return { x: x + width / 2, y: y + height / 2, width };
  }

  /** Drags over the middle half of a chart. */
  async function zoomInto(page: Page, chart: Locator): Promise<void> {
    await chart.scrollIntoViewIfNeeded();
    const { x, y, width } = await centreOf(chart.locator('.u-over'));
    await page.mouse.move(x - width / 4, y);
    await page.mouse.down();
    await page.mouse.move(x, y, { steps: 3 });
    await page.mouse.move(x + width / 4, y, { steps: 3 });
    await page.mouse.up();
  }

  /** As rgb, of all pixels of a chart. */
  const colorsIn = async (page: Page, index = 0) =>
    new Set(
      z.array(z.string()).parse(
        await page.evaluate(`(() => {
          const canvas = document.querySelectorAll('.uplot canvas')[${index}];
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          const colors = new Set();
          for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) colors.add(data.slice(at, at + 3).join());
          return [...colors];
        })()`),
      ),
    );
  /** Of the instructions and tools, in base.css. */
  const FIXED = { light: '100,112,138', dark: '141,153,179' };
  /** Below the line of the present settings. */
  const FREE = '230,233,238';

  it('are drawn by uPlot, without a complaint of the policy', async () => {
    await openShared(async (page) => {
      await page.addInitScript(
        'addEventListener("securitypolicyviolation", (e) => (document.title = e.violatedDirective))',
      );
      for (const [at, count] of [2, 1, 1].entries()) {
        await visit(page, chartPaths()[at] ?? '/');
        await drawnIn(page).first().waitFor();
        expect(await drawnIn(page).count()).toBe(count);
        expect(await page.locator('.drawing > svg:not(.overlay)').count()).toBe(0);
        expect(await page.title()).toContain('Strata');
        for (let index = 0; index < count; index += 1) expect((await colorsIn(page, index)).size).toBeGreaterThan(2);
      }
      await visit(page, '/memories');
      expect(await page.locator('script[src*="uplot"]').count()).toBe(0);
    });
  }, 60_000);

  it('are SVG without scripts', async () => {
    await open({ javaScriptEnabled: false }, async (page) => {
      for (const each of chartPaths()) {
        await visit(page, each);
        const chart = page.locator('figure.chart svg').first();
        expect(await chart.isVisible()).toBe(true);
        expect(await page.locator('canvas').count()).toBe(0);
        expect(await page.locator('title:has(+ rect.hot)').first().textContent()).toMatch(/\d.*: .*(?:used|tokens)/u);
      }
    });
  });

  it('stay SVG if uPlot is not there', async () => {
    await openShared(async (page) => {
      await page.route(/uplot.*\.js/u, (route) => route.fulfill({ body: '', contentType: 'text/javascript' }));
      await visit(page, path('conversation'));
      expect(await page.locator('figure.chart .drawing > svg').first().isVisible()).toBe(true);
      expect(await page.locator('canvas').count()).toBe(0);
      await visit(page, `${path('conversation')}/what-if`);
      await page.locator('#f-compaction-background_threshold').fill('0.6');
      await page.getByText(/background_threshold = 0\.6/u).waitFor();
      expect(await page.locator('path.tried').isVisible()).toBe(true);
    });
  });

  it('tell the figures of a bar', async () => {
    await openShared(async (page) => {
      for (const each of chartPaths()) {
        await visit(page, each);
        const chart = drawnIn(page).first();
        await chart.waitFor();
        const about = await readout(chart).textContent();
        const { x, y, width } = await centreOf(chart.locator('.u-over'));
        await page.mouse.move(x - width / 2 + 3, y);
        expect(await readout(chart).textContent()).toMatch(/\d.*: .*(?:used|tokens)/u);
        await page.mouse.move(0, 0);
        expect(await readout(chart).textContent()).toBe(about);
        await keysOf(chart).focus();
        const newest = await readout(chart).textContent();
        expect(await keysOf(chart).getAttribute('aria-valuetext')).toBe(newest);
        await page.keyboard.press('Home');
        expect(await keysOf(chart).getAttribute('aria-valuenow')).toBe('1');
        if (each !== path('costs')) expect(await readout(chart).textContent()).not.toBe(newest);
      }
    });
  }, 60_000);

  it('tell nothing beside their bars', async () => {
    await openShared(async (page) => {
      await visit(page, path('costs'));
      const chart = drawnIn(page).first();
      await chart.waitFor();
      const about = await readout(chart).textContent();
      const { x, y, width } = await centreOf(chart.locator('.u-over'));
      await page.mouse.move(x - width / 2 + 3, y);
      expect(await readout(chart).textContent()).not.toBe(about);
      await page.mouse.move(x + width / 3, y);
      expect(await readout(chart).textContent()).toBe(about);
    });
  });

  it('show the same message in both charts of a conversation', async () => {
    await openShared(async (page) => {
      await visit(page, path('conversation'));
      const [history, turns] = [drawnIn(page).first(), drawnIn(page).last()];
      await keysOf(history).focus();
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      const shown = Number(/^#(\d+):/u.exec((await readout(history).textContent()) ?? '')?.[1]);
      const other = Number(/^#(\d+):/u.exec((await readout(turns).textContent()) ?? '')?.[1]);
      expect(shown - other).toBeGreaterThanOrEqual(0);
      expect(shown - other).toBeLessThan(4);
      expect(await turns.locator('a.hot').isVisible()).toBe(true);
    });
  });

  it('zoom by dragging and back in three ways', async () => {
    await openShared(async (page) => {
      await visit(page, path('conversation'));
      const chart = drawnIn(page).first();
      const layers = chart.locator('.overlay .layer');
      await layers.first().waitFor();
      const all = await layers.count();
      const address = page.url();
      await chart.scrollIntoViewIfNeeded();
      const { x, y } = await centreOf(chart.locator('.u-over'));
      const back = chart.getByRole('button', { name: 'Show all' });
      const ways = [
        () => page.mouse.dblclick(x, y),
        async () => {
          await keysOf(chart).focus();
          await page.keyboard.press('Escape');
        },
        () => back.click(),
      ];
      for (const goBack of ways) {
        expect(await back.isVisible()).toBe(false);
        await zoomInto(page, chart);
        await back.waitFor();
        expect(await layers.count()).toBeLessThan(all);
        await goBack();
        await back.waitFor({ state: 'hidden' });
        expect(await layers.count()).toBe(all);
      }
      expect(page.url()).toBe(address);
    });
  });

  it('zoom and move by keys', async () => {
    await openShared(async (page) => {
      await visit(page, path('conversation'));
      const chart = drawnIn(page).first();
      await keysOf(chart).focus();
      await page.keyboard.press('+');
      await page.keyboard.press('+');
      await chart.getByRole('button', { name: 'Show all' }).waitFor();
      await page.keyboard.press('Home');
      const [hot, plot] = await Promise.all([
        chart.locator('a.hot').boundingBox(),
        chart.locator('.u-over').boundingBox(),
      ]);
      expect(hot?.x).toBeGreaterThanOrEqual((plot?.x ?? 0) - 1);
    });
  });

  it('open a moment by click or Enter, zoomed or not', async () => {
    await openShared(async (page) => {
      const chart = drawnIn(page).last();
      for (const isZoomed of [false, true]) {
        await visit(page, path('conversation'));
        await chart.scrollIntoViewIfNeeded();
        if (isZoomed) await zoomInto(page, chart);
        const { x, y } = await centreOf(chart.locator('.u-over'));
        await page.mouse.move(x + 5, y);
        const seq = /^#(\d+):/u.exec((await readout(chart).textContent()) ?? '')?.[1];
        await page.mouse.click(x + 5, y);
        await page.waitForURL(new RegExp(`at=${seq}$`, 'u'));
      }
      await visit(page, path('conversation'));
      await keysOf(drawnIn(page).first()).focus();
      await page.keyboard.press('Home');
      await page.keyboard.press('Enter');
      await page.waitForURL(/at=1$/u);
    });
  }, 60_000);

  it('stack the regions in the order of their legend', async () => {
    await openShared(async (page) => {
      await visit(page, path('conversation'));
      const chart = drawnIn(page).first();
      await expect.poll(() => colorsIn(page)).toContain(FIXED.light);
      await keysOf(chart).focus();
      const bar = await centreOf(chart.locator('a.hot'));
      const canvas = await chart.locator('canvas').boundingBox();
      const column = z.array(z.string()).parse(
        await page.evaluate(`(() => {
          const canvas = document.querySelector('.uplot canvas');
          const { data } = canvas.getContext('2d').getImageData(${Math.floor(bar.x - (canvas?.x ?? 0))}, 0, 1, canvas.height);
          return Array.from({ length: canvas.height }, (_, y) => data.slice(4 * y, 4 * y + 3).join()).reverse();
        })()`),
      );
      const swatches = z
        .array(z.string())
        .parse(
          await page.evaluate(
            `[...document.querySelector('figure.chart .legend').querySelectorAll('.swatch')].map((swatch) => getComputedStyle(swatch).backgroundColor.replace(/[^\\d,]/g, ''))`,
          ),
        );
      expect(swatches).toHaveLength(4);
      expect([...new Set(column)].filter((color) => swatches.includes(color))).toEqual(swatches);
    });
  });

  it('switch series on and off', async () => {
    await openShared(async (page) => {
      await visit(page, path('conversation'));
      const chart = drawnIn(page).first();
      const button = chart.getByRole('button', { name: 'instructions and tools' });
      await button.click();
      expect(await button.getAttribute('aria-pressed')).toBe('false');
      await expect.poll(() => colorsIn(page)).not.toContain(FIXED.light);
      await button.press('Enter');
      await expect.poll(() => colorsIn(page)).toContain(FIXED.light);
    });
  });

  it('follow the theme and the width of the page', async () => {
    await open({ colorScheme: 'light' }, async (page) => {
      await visit(page, path('conversation'));
      const chart = drawnIn(page).first();
      await expect.poll(() => colorsIn(page)).toContain(FIXED.light);
      await page.locator('[data-theme-toggle]').click();
      await expect.poll(() => colorsIn(page)).toContain(FIXED.dark);
      await page.locator('[data-theme-toggle]').click();
      await expect.poll(() => colorsIn(page)).not.toContain(FIXED.dark);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.evaluate('delete document.documentElement.dataset.theme');
      await expect.poll(() => colorsIn(page)).toContain(FIXED.dark);
      await page.setViewportSize({ width: 390, height: 800 });
      await expect.poll(async () => (await chart.locator('canvas').boundingBox())?.width).toBeLessThan(380);
    });
  });

  it('have room for the names of thresholds on wide pages', async () => {
    await open({ viewport: { width: 390, height: 800 } }, async (page) => {
      await visit(page, path('conversation'));
      const chart = drawnIn(page).first();
      await chart.waitFor();
      await page.setViewportSize({ width: 900, height: 800 });
      await expect.poll(async () => (await chart.locator('canvas').boundingBox())?.width).toBeGreaterThan(620);
      const [name, drawing] = await Promise.all([
        chart.locator('.overlay text', { hasText: 'emergency' }).boundingBox(),
        chart.locator('.drawing').boundingBox(),
      ]);
      const rightOf = (box: typeof name) => (box?.x ?? 0) + (box?.width ?? 0);
      expect(rightOf(name)).toBeLessThanOrEqual(rightOf(drawing));
    });
  });

  it('keep their colours where the system forces its own', async () => {
    await open({ forcedColors: 'active', colorScheme: 'light' }, async (page) => {
      await visit(page, path('conversation'));
      await drawnIn(page).first().waitFor();
      await expect.poll(() => colorsIn(page)).toContain(FIXED.light);
      const swatch = 'document.querySelector("[data-series] .swatch")';
      const color = z.string().parse(await page.evaluate(`getComputedStyle(${swatch}).backgroundColor`));
      expect(color.replace(/[^\d,]/gu, '')).toBe(FIXED.light);
    });
  });

  it('are accessible while zoomed and showing a point', async () => {
    await openShared(async (page) => {
      for (const each of chartPaths()) {
        await visit(page, each);
        const chart = drawnIn(page).first();
        await zoomInto(page, chart);
        await keysOf(chart).focus();
        await page.evaluate(axe.source);
        const { violations } = axeSchema.parse(await page.evaluate('axe.run()'));
        expect(violations).toEqual([]);
      }
    });
  }, 60_000);

  it('of a forecast follow its sliders, zoomed as they are', async () => {
    await openShared(async (page) => {
      await visit(page, `${path('conversation')}/what-if`);
      const chart = drawnIn(page).first();
      expect(await chart.getByRole('button', { name: 'tried' }).count()).toBe(0);
      await zoomInto(page, chart);
      const answer = page.waitForResponse(/what-if\/outcome/u);
      await page.locator('[data-for="f-compaction-background_threshold"]').focus();
      for (let step = 0; step < 10; step += 1) await page.keyboard.press('ArrowLeft');
      expect(await (await answer).text()).not.toContain('viewBox');
      await chart.getByRole('button', { name: 'tried' }).waitFor();
      await page.getByText(/background_threshold = 0\.7(?!\d)/u).waitFor();
      expect(await chart.getByRole('button', { name: 'Show all' }).isVisible()).toBe(true);
      expect(new URL(page.url()).searchParams.get('compaction.background_threshold')).toBe('0.7');
    });
  });

  it('of a forecast tell that no answer came', async () => {
    await openShared(async (page) => {
      await visit(page, `${path('conversation')}/what-if`);
      await page.route(/what-if\/outcome/u, (route) => route.fulfill({ status: 204 }));
      const field = page.locator('#f-compaction-background_threshold');
      await field.fill('0.6');
      await page.getByRole('alert').getByText('No answer').waitFor();
      await page.unroute(/what-if\/outcome/u);
      await field.fill('0.7');
      await page.getByText(/background_threshold = 0\.7/u).waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    });
  });

  it('of a forecast always show the only series left', async () => {
    await openShared(async (page) => {
      await visit(page, `${path('conversation')}/what-if?compaction.background_threshold=0.6`);
      const chart = drawnIn(page).first();
      await chart.getByRole('button', { name: 'tried' }).click();
      await chart.getByRole('button', { name: 'present settings' }).click();
      await expect.poll(() => colorsIn(page)).not.toContain(FREE);
      await page.locator('#f-compaction-background_threshold').fill('0.8');
      await page.getByText('These are the present settings').waitFor();
      expect(await page.locator('.legend button').count()).toBe(0);
      await expect.poll(() => colorsIn(page)).toContain(FREE);
      await keysOf(chart).focus();
      expect(await readout(chart).textContent()).toMatch(/^#\d+: present/u);
    });
  });
});
