// A plugin with commands for people: /poll start, /poll list and /poll vote, on every channel.
// In config.toml: plugins = ["./poll-command.ts"]. Then: npx strata start
import { defineCommand, definePlugin } from 'stratabot';
import { z } from 'zod';

interface Poll {
  readonly question: string;
  readonly votes: Map<string, string>;
}

const polls: Poll[] = [];
const ANSWERS = ['yes', 'no', 'maybe'] as const;

const start = defineCommand({
  name: 'poll start',
  description: 'Ask everyone here a question',
  options: z.object({ question: z.string().min(3).describe('What to ask') }),
  form: ['question'],
  ephemeral: false,
  run({ question }) {
    const poll = polls.push({ question, votes: new Map() });
    return { title: `Poll ${poll}`, text: `${question}\nAnswer with the command poll vote, number ${poll}.` };
  },
});

const vote = defineCommand({
  name: 'poll vote',
  description: 'Answer a poll',
  options: z.object({
    poll: z.int().min(1).describe('Its number'),
    answer: z.enum(ANSWERS).describe('Your answer'),
  }),
  run({ poll, answer }, { author }) {
    const found = polls[poll - 1];
    if (found === undefined) return { text: `There is no poll ${poll}.`, tone: 'error' };
    found.votes.set(author.id, answer);
    const buttons = ANSWERS.map((other) => ({ label: other, command: 'poll vote', options: { poll, answer: other } }));
    return { title: found.question, text: `You answered ${answer}. Change it:`, buttons };
  },
});

const list = defineCommand({
  name: 'poll list',
  description: 'List the polls with their votes',
  paged: true,
  run: () => ({
    title: 'Polls',
    rows: {
      columns: ['POLL', 'QUESTION', ...ANSWERS],
      cells: polls.map(({ question, votes }, index) => {
        const counts = ANSWERS.map((answer) => [...votes.values()].filter((given) => given === answer).length);
        return [String(index + 1), question, ...counts.map(String)];
      }),
    },
  }),
});

export default definePlugin({ name: 'poll', commands: [start, vote, list] });
