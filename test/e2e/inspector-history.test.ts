import { describe, expect, it } from 'vitest';
import { useInspectorBrowser, WITHOUT_BROWSER } from '../support/inspector-browser.ts';

/** More messages than the chart has bars. */
const MESSAGES = 90;

describe.skipIf(WITHOUT_BROWSER !== '')(`a long history in a browser${WITHOUT_BROWSER}`, () => {
  const { story, openShared, visit } = useInspectorBrowser({ messages: MESSAGES });

  it('has a bar for each message where it is zoomed', async () => {
    await openShared(async (page) => {
      await visit(page, story().paths['conversation'] ?? '/');
      const chart = page.locator('figure.chart:has(.uplot canvas)').first();
      const keys = chart.getByRole('slider');
      const shown = async () => Number(/^#(\d+):/u.exec((await chart.locator('figcaption').textContent()) ?? '')?.[1]);
      await keys.focus();
      expect(await keys.getAttribute('aria-valuemax')).toBe('100');
      const newest = await shown();
      expect(newest).toBeGreaterThan(100);
      for (const key of ['+', '+']) await page.keyboard.press(key);
      await expect.poll(async () => Number(await keys.getAttribute('aria-valuemax'))).toBeGreaterThan(100);
      expect(await shown()).toBe(newest);
      for (let before = 1; before <= 10; before += 1) {
        await page.keyboard.press('ArrowLeft');
        expect(await shown()).toBe(newest - before);
      }
      await page.keyboard.press('Escape');
      await expect.poll(() => keys.getAttribute('aria-valuemax')).toBe('100');
      await page.keyboard.press('Home');
      expect(await shown()).toBe(1);
    });
  });
});
