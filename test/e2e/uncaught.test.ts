import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Folder, jsonLines, openFolder } from './strata.ts';

/** Each part of a plugin leaves a promise that rejects. */
const STRAYS = `import { defineCommand, definePlugin, defineTool } from 'stratabot';
import { z } from 'zod';

const stray = async (what) => {
  await null;
  throw new TypeError('stray ' + what);
};

export default definePlugin({
  name: 'strays',
  hooks: {
    inbound: (_message, next) => {
      void stray('hook');
      return next();
    },
  },
  tools: [
    defineTool({
      name: 'roll_dice',
      description: 'Rolls dice.',
      input: z.object({ sides: z.int().optional().describe('Number of sides') }),
      run: async () => {
        void stray('tool');
        return 'The die shows 6';
      },
    }),
  ],
  commands: [
    defineCommand({
      name: 'lose',
      description: 'Loses a promise.',
      run: () => {
        void stray('command');
        return 'Lost it.';
      },
    }),
  ],
  start: ({ bot }) => {
    void Promise.reject(Object.create(null));
    bot.events.on(({ kind }) => {
      if (kind === 'turn.ended') void stray('listener');
    });
  },
});
`;

/** Throws outside of any promise while a reply is being written. */
const THROWING = `import { definePlugin } from 'stratabot';
export default definePlugin({
  name: 'throwing',
  hooks: {
    model: (_call, next) => {
      setTimeout(() => {
        throw new RangeError('out of a timer');
      }, 50);
      return new Promise((resolve) => setTimeout(resolve, 5_000)).then(next);
    },
  },
});
`;

function write(folder: Folder, plugin: string): void {
  mkdirSync(folder.file('plugins'), { recursive: true });
  writeFileSync(folder.file('plugins/odd.ts'), plugin.replace(/name: '(?:strays|throwing)'/, "name: 'odd'"));
  const tools = '[defaults]\nmodel = "offline:demo"\ntools = ["roll_dice", "memory_save"]\n';
  const isTools = plugin.includes('roll_dice');
  writeFileSync(folder.file('config.toml'), `plugins = ["./plugins/odd.ts"]\n${isTools ? tools : ''}`);
}

interface Line {
  readonly message: string;
  readonly cause?: string;
}

const logOf = (folder: Folder) => jsonLines<Line>(readFileSync(folder.file('data/strata.log'), 'utf8'));

describe('what no code of the process catches', () => {
  it('is logged if it is a rejection, costing no answer', async () => {
    using folder = openFolder();
    write(folder, STRAYS);
    const said = ['My name is Ada.', 'Roll a die with 6 sides.', '/lose', 'What is my name?'];
    const { code, stdout, stderr } = await folder.runProcess(['start'], `${said.join('\n')}\n`);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    for (const text of ['The die shows 6', 'Lost it.', 'Ada']) expect(stdout).toContain(text);
    const causes = logOf(folder).flatMap(({ message, cause }) => (message === 'error.internal' ? [cause] : []));
    for (const part of ['hook', 'tool', 'command', 'listener']) {
      const expected = new RegExp(`plugin odd, \\./plugins/odd\\.ts:6:\\d+: TypeError: stray ${part}$`);
      expect(causes).toContainEqual(expect.stringMatching(expected));
    }
    expect(causes).toContain('a promise that nothing awaited was rejected: source unknown: an error without a reason');
  }, 120_000);

  it('ends the process if it is an exception', async () => {
    using folder = openFolder();
    write(folder, THROWING);
    const { code, stderr } = await folder.runProcess(['start'], 'My name is Ada.\n');
    expect(code).toBe(1);
    expect(stderr).toContain('RangeError: out of a timer');
    expect(logOf(folder)).toContainEqual(
      expect.objectContaining({
        message: 'process.failed',
        cause: expect.stringContaining('plugin odd, ./plugins/odd.ts:7:15: RangeError: out of a timer'),
      }),
    );
    writeFileSync(folder.file('config.toml'), '');
    await folder.runProcess(['start'], '/status\n');
    const transcript = await folder.run(['transcript', '--conversation', 'terminal:local:main']);
    expect(transcript.stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^#1 .*: My name is Ada\.$/),
      expect.stringMatching(/^#2 .*: Nice to meet you, Ada\.$/),
    ]);
  }, 120_000);
});
