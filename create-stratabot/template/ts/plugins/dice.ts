import { definePlugin, defineTool } from 'stratabot';
import { z } from 'zod';

export default definePlugin({
  name: 'dice',
  tools: [
    defineTool({
      name: 'roll_dice',
      description: 'Rolls one die and tells what it shows.',
      input: z.object({ sides: z.int().min(2).describe('How many sides the die has') }),
      run: async ({ sides }) => `The die shows ${1 + Math.floor(Math.random() * sides)}.`,
    }),
  ],
});
