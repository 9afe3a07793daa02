import { PassThrough } from 'node:stream';
import { createTerminalChannel } from '../../../adapters/channels/terminal/index.ts';
import { channelContract } from '../../contracts/channel.ts';

channelContract('the terminal', {
  platform: 'terminal',
  async open() {
    const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
    let shown = '';
    output.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
    });
    errors.resume();
    return {
      channel: createTerminalChannel({ input, output, errors, isTTY: false, color: false }),
      say: (text) => void (input.writable && input.write(`${text}\n`)),
      command: () => void input.write('/status\n'),
      shown: () => shown,
      async dispose() {
        input.destroy();
      },
    };
  },
});
