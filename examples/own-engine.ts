// A context engine of your own: the model sees the newest 20 messages that fit, and nothing is summarised. In config.toml:
//   plugins = ["./own-engine.ts"]
//   [defaults]
//   engine = "newest"
// Then start the bot: npx strata start
import { type ContextEngine, definePlugin } from 'stratabot';
import { assembleView, defineEngine } from 'stratabot/adapter-kit';

const MAX_MESSAGES = 20;

export function createNewest(): ContextEngine {
  return defineEngine({
    id: 'newest',
    name: 'Newest messages',
    assemble: async (request) => assembleView(request, { tail: request.snapshot.tail.slice(-MAX_MESSAGES) }),
  });
}

export default definePlugin({ name: 'newest', engines: { newest: createNewest() } });
