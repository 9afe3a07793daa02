import { type Command, nothingYet, typed } from '../command.ts';
import { makeReply } from '../reply.ts';
import { singleAction } from '../spec.ts';

export const reset: Command = {
  spec: singleAction('reset', 'Start over: the bot no longer sees the messages so far; the archive and memories stay', {
    access: 'moderator',
    irreversible: true,
    ephemeral: false,
  }),
  run: {
    '': async (call) => {
      const { services, conversation } = call;
      if (conversation === null) return nothingYet('Reset');
      await services.store.conversations.change(conversation.id, { kind: 'reset', now: services.clock.now() });
      return makeReply('Reset', {
        text: `The bot starts over from here. Earlier messages stay in the archive (${typed(call, 'transcript search')}) and what it remembers stays (${typed(call, 'memory list')}).`,
        tone: 'success',
        ephemeral: false,
      });
    },
  },
};
