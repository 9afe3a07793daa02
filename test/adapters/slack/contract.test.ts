import { channelContract } from '../../contracts/channel.ts';
import { ADA, GENERAL, startSlack } from '../../fixtures/slack/double.ts';
import { openChannel } from '../../fixtures/slack/kit.ts';

channelContract('Slack', {
  platform: 'slack',
  async open() {
    const double = await startSlack();
    const { channel } = openChannel(double, { table: { sockets: 1 } });
    return {
      channel,
      say: (text) => void double.say(GENERAL, ADA, text),
      command: () => void double.slash('status'),
      shown: () => JSON.stringify([double.posted(GENERAL).map(({ text }) => text), double.answers, double.uploads]),
      dispose: double.close,
    };
  },
});
