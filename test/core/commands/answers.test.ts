import { describe, expect, test } from 'vitest';
import { cells, openWorld } from './commands.world.ts';

describe('what people read', () => {
  test.each(['\u200d', '\u3164', '\u200b\ufe0f'])(
    'no text without visible characters is remembered: %j',
    async (text) => {
      await using world = await openWorld();
      expect((await world.type(`/memory remember ${text}`)).text).toBe('There is no text to remember.');
      await world.type('/memory remember I drink tea');
      const [[id = ''] = []] = cells(await world.type('/memory list'));
      expect((await world.type(`/memory edit ${id} ${text}`)).text).toBe('There is no text to remember.');
      expect((await world.type(`/memory show ${id}`)).text).toBe('I drink tea');
    },
  );
});
