// A context engine of your own: the model sees the newest 20 messages that fit, and nothing is summarised. In config.toml:
//   plugins = ["./own-engine.ts"]
//   [defaults]
//   engine = "newest"
// Then start the bot: npx strata start
import { definePlugin, type Entry, textOf } from 'stratabot';
import { defineEngine, type ModelMessage } from 'stratabot/adapter-kit';

const MAX_MESSAGES = 20;
const CHARACTERS_PER_TOKEN = 4;

const tokensOf = (value: unknown) => Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN);
/** A message that arrived during a turn comes after that turn's reply. */
const position = ({ seq, turn }: Entry) => (turn === null ? seq : turn + 0.5);

const newest = defineEngine({
  id: 'newest',
  name: 'Newest messages',
  async assemble({ profile, snapshot, readUpto, volatile, steps }) {
    const { windowTokens: window, reserveTokens: reserve, tools } = profile;
    const system = [...profile.sections, ...volatile].map(({ text }) => ({ text, cacheBreak: false }));
    const fixed = tokensOf([system, tools]);
    const read = snapshot.tail.filter(({ seq, turn }) => turn !== null || seq <= readUpto);
    let shown = read.toSorted((a, b) => position(a) - position(b)).slice(-MAX_MESSAGES);
    // The first message has to be a person's, and all of them have to fit.
    while (shown.length > 1 && (shown[0]?.role !== 'user' || fixed + reserve + tokensOf([shown, steps]) > window)) {
      shown = shown.slice(1);
    }
    const messages = [...shown.flatMap(toMessages), ...steps];
    const tail = tokensOf(messages);
    const used = fixed + tail + reserve;
    const measurement = { fixed, stack: 0, tail, volatile: 0, reserve, used, window, ratio: used / window };
    return {
      ...{ system, messages, tools, snapshot, parts: [], estimatedTokens: fixed + tail },
      measurement: { ...measurement, tier: 'none', estimated: true },
      recalled: volatile.flatMap(({ memoryIds }) => memoryIds),
    };
  },
});

function toMessages({ role, author, parts }: Entry): readonly ModelMessage[] {
  const text = textOf(parts);
  const calls = parts.filter((part) => part.kind === 'tool-call');
  if (role === 'user') return [{ role, content: [{ kind: 'text', text: `${author?.name ?? 'Someone'}: ${text}` }] }];
  if (role === 'assistant') return [{ role, text, calls }];
  return role === 'tool' ? [{ role, results: parts.filter((part) => part.kind === 'tool-result') }] : [];
}

export default definePlugin({ name: 'newest', engines: { newest } });
