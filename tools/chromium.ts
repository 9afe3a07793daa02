import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of the system; null without one. */
export function chromiumPath(): string | null {
  return PATHS.find((path) => existsSync(path)) ?? null;
}

export async function openChromium(executablePath: string): Promise<Browser> {
  // Without a sandbox of its own, because root has none.
  return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
