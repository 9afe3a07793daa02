// First, as in a process that also serves Slack: its copy of undici then sends the requests of both.
import '@slack/bolt';
import { channelContract } from '../../contracts/channel.ts';
import { ADA, GENERAL, startDiscord } from '../../fixtures/discord/double.ts';
import { openChannel } from '../../fixtures/discord/kit.ts';

channelContract('Discord', {
  platform: 'discord',
  async open() {
    const double = await startDiscord();
    const { channel } = openChannel(double);
    return {
      channel,
      say: (text) => void double.say(GENERAL, ADA, text),
      command: () => void double.interact({ type: 2, data: { id: '1', type: 1, name: 'status', options: [] } }),
      shown() {
        const posted = double
          .posted(GENERAL)
          .map(({ content, files = [] }) => [content, ...files.map(({ text }) => text)]);
        return JSON.stringify([posted, double.callbacks.map(({ body }) => body)]);
      },
      dispose: double.close,
    };
  },
});
