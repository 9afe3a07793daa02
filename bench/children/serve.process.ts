import { appendFileSync } from 'node:fs';
import { z } from 'zod';
import { hangingModel, providerOf, replyModel } from '../models.ts';
import { conversationKey, openWorld, personMessage } from '../world.ts';

/** A bot to be killed: messages come from its parent, and a file for its posts acts as the platform. */

const [directory, platform] = z.tuple([z.string(), z.string()]).parse(process.argv.slice(2));
const messageSchema = z.object({ id: z.string(), conversation: z.number(), number: z.number(), text: z.string() });

const world = await openWorld({
  directory,
  models: providerOf(replyModel(5), hangingModel()),
  agent: { context_window: 6000, max_output_tokens: 500, tools: [] },
  onPost: (post) => appendFileSync(platform, `${JSON.stringify(post)}\n`),
});

const pending = new Set<string | null>();
world.bot.events.on((event) => {
  if (event.kind === 'maintenance.started') pending.add(event.conversation);
  else if (event.kind === 'maintenance.ended') pending.delete(event.conversation);
  else return;
  process.send?.({ pending: pending.size > 0 });
});

process.on('message', (raw) => {
  const { id, conversation, text } = messageSchema.parse(raw);
  const stored = world.bot.sink.message(personMessage(conversationKey(conversation), { id, text }));
  stored.then(
    () => process.send?.({ accepted: id }),
    () => undefined,
  );
});
process.send?.({ ready: true });
