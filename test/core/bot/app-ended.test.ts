import { expect, it } from 'vitest';
import { openApp } from '../../../src/program.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

it('an app without a terminal ends when it is closed', async () => {
  const app = await openApp({ data: await createStoreFolder('ended'), platforms: [] });
  await app.start();
  const ended = app.ended.then(() => 'ended');
  expect(await Promise.race([ended, Promise.resolve('running')])).toBe('running');
  await app.close();
  expect(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 1000, 'still running'))])).toBe(
    'ended',
  );
});
