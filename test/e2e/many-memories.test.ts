import { expect, it } from 'vitest';
import { z } from 'zod';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { createKit, HERE } from '../contracts/store-kit.ts';
import { openFolder } from './strata.ts';

it('lists more than 10,000 memories', async () => {
  using folder = openFolder();
  const storage = await createSqliteStorage({ directory: folder.file('data') });
  const kit = createKit(storage);
  const { id } = await kit.fill(1);
  await kit.save(id, ...Array.from({ length: 10_001 }, (_, index) => kit.inserting(`boat ${index}`, [1])));
  await storage.store.close();
  const { stdout } = await folder.run(['memory', 'list', '--conversation', HERE, '--json']);
  const listed = z.array(z.object({ id: z.string() })).parse(JSON.parse(stdout));
  expect(new Set(listed.map((memory) => memory.id)).size).toBe(10_001);
});
