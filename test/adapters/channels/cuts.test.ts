import { describe, expect, it } from 'vitest';
import { split as splitForDiscord } from '../../../adapters/channels/discord/outbound/split.ts';
import { format } from '../../../adapters/channels/slack/outbound/format.ts';
import { split as splitForSlack } from '../../../adapters/channels/slack/outbound/split.ts';

/** Where long replies are cut on Discord and Slack. */

const LIMIT = 2000;
const CHANNELS = {
  Discord: (text: string) => splitForDiscord(text, { limit: LIMIT, fileAbove: 20 }).map((body) => body.text),
  Slack: (text: string) => splitForSlack(text, LIMIT).map((body) => body.text),
} as const;
const words = (length: number) => 'word '.repeat(length / 5);
/** Offers no place for a cut. */
const solid = (length: number) => 'あ'.repeat(length);
const LINK = '[the whole story](https://example.org/a/b?c=d)';

describe.each(Object.entries(CHANNELS))('a reply on %s', (_, split) => {
  const endOf = (text: string) => split(text)[0]?.trimEnd().slice(-10);

  it.each([
    ['a paragraph that fills half of it', `${words(1200)}first\n\n${words(300)}later\n${words(1200)}`, 'first'],
    ['a line that fills half of it', `${words(1200)}first\n${words(300)}later. ${words(1200)}`, 'first'],
    ['a sentence in quotes', `${words(1200)}"first." ${words(1200)}`, '"first."'],
    ['a sentence in bold', `${words(1200)}**first.** ${words(1200)}`, '**first.**'],
    ['a Japanese sentence', `${solid(1200)}。${solid(1200)}`, '。'],
    ['a Japanese sentence in quotes', `${solid(1200)}！」${solid(1200)}`, '！」'],
    ['a word, rather than inside a long one', `${words(600)}first ${'x'.repeat(1500)}`, 'first'],
    ['a line between unrelated stars', `${words(1200)}2**first\n4**5 ${words(1200)}`, '2**first'],
    ['a line between unrelated backticks', `${words(1200)}a\`first\n\`b ${words(1200)}`, 'a`first'],
  ])('is cut after %s', (_, text, end) => {
    expect(endOf(text)?.endsWith(end), endOf(text)).toBe(true);
  });

  it.each([
    LINK,
    `!${LINK}`,
    LINK.replace(' ', '\n'),
    'https://example.org/a/b?c=d',
    '`some code`',
    '``some ` code``',
    '`~/my notes`',
  ])('is cut before %j, never inside', (unit) => {
    for (let length = LIMIT - 1; length >= LIMIT - unit.length; length -= 1) {
      for (const text of [`${words(length - 5)}to `.padStart(length, 'x'), solid(length)]) {
        const [first, second] = split(`${text}${unit} ${words(300)}`);
        expect([first, second?.slice(0, unit.length)]).toEqual([text, unit]);
      }
    }
  });

  it('is cut inside parentheses that are no address', () => {
    const [first = ''] = split(`${words(100)}[1](${words(1900)}) ${words(100)}`);
    expect(first.length).toBeGreaterThan(0.9 * LIMIT);
  });

  it('has no half of a character', () => {
    const bodies = split('👩\ufe0f\u200d👩\u200d'.repeat(LIMIT));
    expect(bodies.map((body) => body.isWellFormed())).not.toContain(false);
    expect(bodies.map((body) => body.length)).not.toContain(0);
  });
});

describe('a reply on Discord', () => {
  it.each(['<@100000000000000001>', '<:smile:100000000000000001>', '<t:1700000000:R>', '<https://example.org/a_(b)>'])(
    'is never cut inside %s',
    (unit) => {
      for (let length = LIMIT - 1; length >= LIMIT - unit.length; length -= 1) {
        const [first, second] = CHANNELS.Discord(`${solid(length)}${unit}${solid(100)}`);
        expect([first, second?.slice(0, unit.length)]).toEqual([solid(length), unit]);
      }
    },
  );
});

describe('a reply on Slack', () => {
  it('is never cut inside bold words', () => {
    const unit = '**some bold words**';
    for (let length = LIMIT - 1; length > LIMIT - unit.length; length -= 1) {
      const text = `${words(length - (length % 5) - 5)}`.padEnd(length - 1, 'x');
      const [first, second] = CHANNELS.Slack(`${text} ${unit} and so on. ${words(300)}`);
      expect([first, second?.slice(0, unit.length)]).toEqual([`${text} `, unit]);
    }
  });

  it('is cut inside bold text that is very long', () => {
    const [first = ''] = CHANNELS.Slack(`${words(300)}**${words(1800)}bold** ${words(100)}`);
    expect(first.length).toBeGreaterThan(0.9 * LIMIT);
  });

  it('is cut before a code block in a list', () => {
    const [first = ''] = CHANNELS.Slack(`- ${words(1200)}first\n  \`\`\`js title=${'x'.repeat(900)}\n  code\n  \`\`\``);
    expect(first.trimEnd().endsWith('first')).toBe(true);
  });

  it('opens no code block with the marks of a line', () => {
    for (const marker of ['```', '~~~']) {
      for (const text of [words(LIMIT - 5), solid(LIMIT - 5), `${solid(LIMIT - 6)} `]) {
        const [, second = ''] = CHANNELS.Slack(`${text}${marker}javascript opens one. ${words(200)}\nAnd it goes on.`);
        expect(JSON.stringify(format(second).blocks)).toMatch(/javascript opens one.*And it goes on/);
        expect(JSON.stringify(format(second).blocks)).not.toContain('preformatted');
      }
    }
  });
});
