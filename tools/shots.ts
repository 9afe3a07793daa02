import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { parseKey } from '../src/adapter-kit.ts';
import { chromiumPath, openChromium } from './chromium.ts';
import { type InspectedStory, tellStory } from './inspector-story.ts';

const command = new Command('npm run shots --')
  .description('Writes a screenshot of every page of the inspector in both themes.')
  .argument('[pages...]', 'the pages; without them, all')
  .option('--out <folder>', 'where to write', join(import.meta.dirname, '../docs/images/inspector'))
  .option('--whole', 'the whole length of each page instead of one screen', false)
  .parse();
const values = z.object({ out: z.string(), whole: z.boolean() }).parse(command.opts());
const pages = command.args;
const MESSAGES = 110;
const SIZE = { width: 1280, height: 860 };

/** Parts of pages that get a picture of their own. */
const PARTS: Readonly<Record<string, { readonly name: string; readonly selector: string }>> = {
  conversation: { name: 'turns', selector: 'section[aria-labelledby="turns"]' },
};

async function shoot(browser: Browser, story: InspectedStory, theme: 'light' | 'dark'): Promise<void> {
  const context = await browser.newContext({ colorScheme: theme, viewport: SIZE });
  const page = await context.newPage();
  await page.goto(story.url);
  await page.waitForURL((url) => url.search === '');
  for (const [name, path] of Object.entries(story.paths)) {
    if (pages.length > 0 && !pages.includes(name)) continue;
    await page.goto(new URL(path, story.url).href);
    const part = PARTS[name];
    if (part !== undefined) {
      const shown = page.locator(part.selector);
      await shown.screenshot({ path: join(values.out, `${part.name}-${theme}.png`) });
    }
    await page.evaluate('scrollTo(0, 0)');
    await page.screenshot({ path: join(values.out, `${name}-${theme}.png`), fullPage: values.whole });
  }
  if (pages.length === 0 || pages.includes('again')) {
    await page.goto(new URL(story.paths['reply'] ?? '/', story.url).href);
    await page.getByRole('button', { name: 'Run it again' }).click();
    await page.locator('#answers').waitFor();
    await page.screenshot({ path: join(values.out, `again-${theme}.png`) });
  }
  await context.close();
}

/** What `/context picture` answers with. */
async function writePicture({ bot, paths }: InspectedStory): Promise<void> {
  const key = parseKey(decodeURIComponent(paths['conversation']?.slice('/c/'.length) ?? '')).key;
  const conversation = await bot.services.store.conversations.find(key);
  const picture = conversation === null ? null : await bot.commandServices.picture(conversation);
  if (picture !== null) await writeFile(join(values.out, 'chat.png'), Buffer.from(picture.base64, 'base64'));
}

const executable = chromiumPath();
if (executable === null) throw new Error('There is no Chromium. On Debian: apt-get install chromium');
await mkdir(values.out, { recursive: true });
await using story = await tellStory({ messages: MESSAGES });
const names = [...Object.keys(story.paths), 'again', 'chat'];
const unknown = pages.filter((page) => !names.includes(page));
if (unknown.length > 0) throw new Error(`There is no page ${unknown.join(', ')}. Pages: ${names.join(', ')}.`);
if (pages.length === 0 || pages.includes('chat')) await writePicture(story);
const browser = await openChromium(executable);
try {
  for (const theme of ['light', 'dark'] as const) await shoot(browser, story, theme);
} finally {
  await browser.close();
}
