import { rm } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDiscordChannel } from '../../../adapters/channels/discord/index.ts';
import { createSlackChannel } from '../../../adapters/channels/slack/index.ts';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import type { Channel, Clock, StateStore } from '../../../src/adapter-kit.ts';
import { createBot } from '../../../src/bot/bot.ts';
import { defaultAgent } from '../../../src/config/defaults.ts';
import { createPromptLibrary } from '../../../src/prompts/library.ts';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import { scriptedModel } from '../../core/compaction/compaction.world.ts';
import { recordLog, until } from '../../fixtures/channel-kit.ts';
import * as discord from '../../fixtures/discord/double.ts';
import { type Oddity, oddities, startOdd } from '../../fixtures/odd-answers.ts';
import * as slack from '../../fixtures/slack/double.ts';
import { settingsFor } from '../../fixtures/slack/kit.ts';
import { SIZED, sized } from '../../support/size.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

/**
 * Any answer of a platform may be anything, at the start and while people write. Once the platform is sane, everyone who
 * asked has one answer, and no log contains what they said.
 */

const SECRET = 'swordfish';
const system = createSystemClock();
/** Waits are ten times as short. */
const quick: Clock = { now: system.now, sleep: (ms, options) => system.sleep(ms / 10, options) };
const prompts = createPromptLibrary();

interface Platform {
  readonly base: string;
  channel(url: string, own: { state: StateStore; log: ReturnType<typeof recordLog> }): Channel;
  isConnected(): boolean;
  /** In a channel, with a file, and as a direct message; and a command. */
  ask(url: string): void;
  askAgain(): void;
  posted(): readonly string[];
  close(): Promise<void>;
}

async function openDiscord(): Promise<Platform> {
  const double = await discord.startDiscord();
  const { GENERAL, DIRECT, ADA, BOT, TOKEN } = discord;
  double.serve('/note.txt', `a note about ${SECRET}`);
  const attachment = { id: '1', filename: 'note.txt', content_type: 'text/plain', size: 22 };
  return {
    base: double.base,
    channel: (url, own) =>
      createDiscordChannel({ settings: { token: TOKEN, rest_url: `${url}/api` }, clock: quick, ...own }),
    isConnected: () => double.gateway.live === 1,
    ask(url) {
      const details = { mentions: [BOT], attachments: [{ ...attachment, url: `${url}/note.txt` }] };
      double.say(GENERAL, ADA, `<@${BOT.id}> x1 ${SECRET}`, details as Parameters<typeof double.say>[3]);
      double.say(DIRECT, ADA, `x2 ${SECRET}`);
      double.interact({ type: 2, data: { id: '1', type: 1, name: 'help', options: [] } });
    },
    askAgain: () => void double.say(DIRECT, ADA, `x3 ${SECRET}`),
    posted: () => [...double.posted(GENERAL), ...double.posted(DIRECT)].map(({ content }) => content),
    close: double.close,
  };
}

async function openSlack(): Promise<Platform> {
  const double = await slack.startSlack();
  const { GENERAL, DIRECT, ADA, BOB, BOT } = slack;
  double.files.set('/files/note', { body: Buffer.from(`a note about ${SECRET}`), type: 'text/plain' });
  const file = { id: 'F1', name: 'note.txt', mimetype: 'text/plain', size: 22 };
  return {
    base: double.base,
    channel: (url, own) =>
      createSlackChannel({ settings: settingsFor({ apiUrl: `${url}/api/` }, { sockets: 1 }), clock: quick, ...own }),
    isConnected: () => double.sockets() === 1,
    ask(url) {
      const files = [{ ...file, url_private: `${url}/files/note` }];
      double.say(GENERAL, BOB, `<@${BOT}> x1 ${SECRET}`, { subtype: 'file_share', files });
      double.say(DIRECT, ADA, `x2 ${SECRET}`);
      double.slash('help');
    },
    askAgain: () => void double.say(DIRECT, ADA, `x3 ${SECRET}`),
    posted: () => [...double.posted(GENERAL), ...double.posted(DIRECT)].map(({ text }) => String(text)),
    close: double.close,
  };
}

interface Scenario {
  readonly atStart: readonly (Oddity | null)[];
  readonly later: readonly (Oddity | null)[];
}

function scenarios(errors: readonly string[]): fc.Arbitrary<Scenario> {
  const listOf = (one: fc.Arbitrary<Oddity>) => fc.array(fc.option(one, { freq: 3 }), { maxLength: 5 });
  const all = oddities(errors);
  return fc.record({ atStart: listOf(all.filter((oddity) => !saysBadToken(oddity))), later: listOf(all) });
}

/** Discord's own answer to a token that is invalid ends the start for good. */
function saysBadToken(oddity: Oddity): boolean {
  if (oddity.kind !== 'instead' && oddity.kind !== 'after') return false;
  return oddity.answer.status === 401 && oddity.answer.body.startsWith('{"code":');
}

/** What the people see, and the log. Fails when somebody waits for an answer. */
async function play(open: () => Promise<Platform>, { atStart, later }: Scenario) {
  const platform = await open();
  const odd = await startOdd(platform.base);
  const directory = await createStoreFolder('odd');
  const storage = await createSqliteStorage({ directory });
  const log = recordLog();
  const model = scriptedModel((request) => {
    const names = [...JSON.stringify(request.messages).matchAll(/\b(x\d) /gu)].map(([, name]) => name);
    return { text: `Answer to ${names.at(-1)}.` };
  });
  const bot = createBot({
    storage,
    clock: quick,
    prompts,
    log,
    queue: createLocalQueue({ log, clock: quick }),
    models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: '' }) },
    channels: [platform.channel(odd.url, { state: storage.state, log })],
    agents: [defaultAgent({ model: model.id, context_window: 8_000, max_output_tokens: 300, tools: [] })],
  });
  const has = (name: string) => platform.posted().some((text) => text.includes(name));
  try {
    odd.next.push(...atStart);
    await bot.start();
    await until('a connection', platform.isConnected);
    odd.next.splice(0, odd.next.length, ...later);
    platform.ask(odd.url);
    await until('the oddities', () => odd.next.length === 0, 1_000).catch(() => odd.next.splice(0));
    platform.askAgain();
    await until('the answers', () => has('x1') && (has('x2') || platform.posted().length === 2) && has('x3'));
    return { posted: platform.posted().toSorted(), log: JSON.stringify(log.lines) };
  } catch (error) {
    throw new Error([String(error), ...odd.seen, ...log.lines.map((line) => JSON.stringify(line))].join('\n'));
  } finally {
    await bot.stop({ deadlineMs: 200 });
    await odd.close();
    await platform.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function problemsOf(open: () => Promise<Platform>, scenario: Scenario): Promise<readonly string[]> {
  try {
    const { posted, log } = await play(open, scenario);
    const isTwice = new Set(posted).size < posted.length;
    return [...(isTwice ? [`Twice: ${posted.join(' ')}`] : []), ...(log.includes(SECRET) ? ['Logged'] : [])];
  } catch (error) {
    return [String(error)];
  }
}

test.each([
  ['Discord', openDiscord, ['{"message":"no code"}', '{"code":0,"message":""}', '{"code":40333,"message":""}']],
  ['Slack', openSlack, ['{"ok":false}', '{"ok":true}', '{"ok":"yes"}', '{"ok":false,"error":"internal_error"}']],
] as const)('odd answers of %s cost no reply', { ...SIZED, timeout: 1_800_000 }, async (_, open, errors) => {
  const queue = fc.sample(scenarios(errors), { numRuns: sized({ small: 8, full: 200 }) });
  const bad: string[] = [];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const problems = await problemsOf(open, next);
      if (problems.length > 0) bad.push(`${JSON.stringify(next).slice(0, 5_000)}\n${problems.join('\n')}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  expect(bad.join('\n\n'), `TEST_SEED=${process.env['TEST_SEED']}`).toBe('');
});
