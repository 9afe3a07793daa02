import { definePlugin, defineTool } from 'stratabot';
import { z } from 'zod';

export default definePlugin({
  name: 'dice',
  tools: [
    defineTool({
      name: 'roll_dice',
      description: 'Rolls one die and returns the result.',
      input: z.object({ sides: z.int().min(2).describe('Number of sides') }),
      run: async ({ sides }) => `The die shows ${1 + Math.floor(Math.random() * sides)}.`,
    }),
  ],
});
