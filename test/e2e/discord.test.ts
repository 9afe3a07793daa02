import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { parseKey, textOf } from '../../src/adapter-kit.ts';
import {
  ADA,
  APPLICATION,
  BOB,
  DIRECT,
  type DiscordDouble,
  GENERAL,
  GUILD,
  startDiscord,
  TOKEN,
} from '../fixtures/discord/double.ts';
import { until } from '../fixtures/discord/kit.ts';
import { type ScriptedServer, startScriptedModel } from '../fixtures/discord/model.ts';
import { FILLER, jump, LONG } from './jump.ts';
import { ended, type Folder, openFolder } from './strata.ts';

/** The whole of Strata as its own process: Discord on one side, a model's HTTP interface on the other. */

const KEY = `discord:${GUILD}:${GENERAL}`;
const WINDOW = 6_000;

let double: DiscordDouble;
let model: ScriptedServer;
let folder: Folder;
let bot: ReturnType<typeof run>;
const said: string[] = [];

beforeAll(async () => {
  double = await startDiscord();
  model = await startScriptedModel();
  folder = openFolder({ DISCORD_BOT_TOKEN: TOKEN });
  writeFileSync(
    folder.file('config.toml'),
    [
      '[defaults]',
      'model = "scripted:m"',
      `context_window = ${WINDOW}`,
      'max_output_tokens = 400',
      'mode = "active"',
      '[providers.scripted]',
      `base_url = "${model.url}"`,
      '[channels.discord]',
      'token = "env:DISCORD_BOT_TOKEN"',
      `rest_url = "${double.restUrl}"`,
    ].join('\n'),
  );
});

afterAll(async () => {
  bot.child.kill('SIGKILL');
  await double.close();
  await model.close();
  folder[Symbol.dispose]();
});

function run() {
  const before = double.gateway.identifies.length;
  const child = folder.start(['start', '--log-level', 'debug']);
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output.text += chunk.toString()));
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, output, exit, isConnected: () => double.gateway.identifies.length > before };
}

async function start(): Promise<void> {
  bot = run();
  await until(`a connection\n${bot.output.text}`, () => bot.isConnected(), 60_000);
}

let names = 0;
/** A message that identifies the model's answers. */
function say(text: string, options: { readonly silent?: boolean } = {}): string {
  names += 1;
  const name = `x${names}`;
  said.push(`${name} ${text}`);
  double.say(GENERAL, names % 3 === 0 ? BOB : ADA, `${name} ${text}`, options);
  return name;
}

const messageOf = (name: string) =>
  double.messagesIn(GENERAL).find(({ content }) => content.startsWith(`${name} `)) ?? expect.fail(name);
const answers = () => double.posted(GENERAL).filter(({ content }) => content.startsWith('Answer to'));
const answerTo = (name: string) => answers().find(({ content }) => content.startsWith(`Answer to ${name}.`));
const answered = (name: string, withinMs = 60_000) =>
  until(`an answer to ${name}\n${bot.output.text.slice(-1500)}`, () => answerTo(name), withinMs);

interface Reply {
  readonly data: {
    readonly flags?: number;
    readonly embeds: readonly {
      readonly title: string;
      readonly description: string;
      readonly footer?: { readonly text: string };
    }[];
    readonly components: readonly {
      readonly components: readonly { readonly label: string; readonly custom_id: string }[];
    }[];
  };
}

/** A slow answer is first deferred, and then edited. */
const DEFERRED = [5, 6];

async function interact(details: Parameters<DiscordDouble['interact']>[0]): Promise<Reply> {
  const id = double.interact(details);
  const first = await until(
    'the answer of a command',
    () => double.callbacks.find((callback) => callback.id === id)?.body as (Reply & { type: number }) | undefined,
  );
  if (!DEFERRED.includes(first.type)) return first;
  const edited = await until('the edited answer', () => double.edits.find(({ token }) => token === `token-${id}`));
  return { data: { flags: first.data?.flags, ...edited.body } as Reply['data'] };
}

/** View Channels, Read Message History and Manage Messages. */
const MODERATES = String((1n << 10n) | (1n << 16n) | (1n << 13n));

const command = (name: string, action: string | null, options: Record<string, string> = {}): Promise<Reply> => {
  const values = Object.entries(options).map(([key, value]) => ({ name: key, type: 3, value }));
  return interact({
    type: 2,
    permissions: MODERATES,
    data: { id: '1', type: 1, name, options: action === null ? values : [{ type: 1, name: action, options: values }] },
  });
};
const press = (reply: Reply, label: string): Promise<Reply> => {
  const button = reply.data.components
    .flatMap(({ components }) => components)
    .find((candidate) => candidate.label === label);
  return interact({
    type: 3,
    permissions: MODERATES,
    data: { custom_id: button?.custom_id ?? '', component_type: 2 },
  });
};
const shown = ({ data }: Reply) => data.embeds[0]?.description ?? '';

/** How full the window is, as `/context` says. */
async function share(): Promise<number> {
  const percent = /(\d+) %/.exec(shown(await command('context', 'list')))?.[1];
  return Number(percent ?? 'NaN') / 100;
}

describe('a newcomer', () => {
  test('the steps of the README lead to an answering bot', async () => {
    const root = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
    const readme = root('README.md');
    const lines = /```toml\n([^`]*channels\.discord[^`]*)```/u.exec(readme)?.[1]?.trim().split(/\n\s*/u) ?? [];
    expect(lines).toHaveLength(2);
    const shipped = lines.reduce((text, line) => text.replace(`#${line}\n`, `${line}\n`), root('config.toml'));
    using home = openFolder();
    writeFileSync(home.file('config.toml'), shipped.replace('#rest_url = ""', `rest_url = "${double.restUrl}"`));
    writeFileSync(home.file('.env'), `DISCORD_BOT_TOKEN=${TOKEN}\n`);
    expect((await home.runProcess(['discord', 'invite'])).stdout).toMatch(/^http:.*\/oauth2\/authorize\?/);
    expect((await home.runProcess(['doctor'])).stdout).toMatch(/channel\.discord\.token.*is valid/u);
    const child = home.start(['start']);
    await until('a connection', () => double.gateway.identifies.length > 0, 60_000);
    double.say(DIRECT, ADA, 'Hello, who are you?');
    await until('an answer', () => double.posted(DIRECT).length > 0, 60_000);
    child.kill('SIGTERM');
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  }, 120_000);
});

describe('a conversation in a channel', () => {
  test('is answered, and its commands are registered', async () => {
    await start();
    await answered(say(`Hello. ${fact()}`));
    expect(answers()[0]).toMatchObject({ type: 19, message_reference: { message_id: expect.any(String) } });
    expect(double.registered.get('commands')).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'memory' })]),
    );
  }, 120_000);

  test('explains a reply by the menu of the message', async () => {
    const [reply] = answers();
    if (reply === undefined) throw new Error('no reply');
    const resolved = { messages: { [reply.id]: reply } };
    const data = { id: '1', type: 3, name: 'Why this reply?', target_id: reply.id, resolved };
    const explained = await interact({ type: 2, data });
    expect(explained.data).toMatchObject({ flags: 64, embeds: [{ title: 'Why #2' }] });
    expect(shown(explained)).toContain('This is exactly what the model saw.');
    const changes = await press(explained, 'What changed since the previous reply');
    expect(changes.data.embeds[0]?.title).toBe('Why #2: changes');
  }, 120_000);

  test('prints the address that adds the bot to a server', async () => {
    const { code, stdout } = await folder.run(['discord', 'invite']);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`client_id=${APPLICATION}`)]);
  });

  // Shows: C10
  test('passes all tiers without a pause in its answers', async () => {
    for (let count = 2; model.asked.summaries === 0; count += 1) {
      expect(count).toBeLessThan(80);
      await answered(say(`${fact()} ${FILLER.repeat(3)}`));
    }
    await jump({
      windowTokens: WINDOW,
      share,
      runs,
      talk: (text) => answered(say(text)),
      ranMore: (before) => until('a compaction', () => runs() > before, 5_000),
    });
    // A burst that no window holds.
    await fill(0.6);
    await burst([LONG, LONG, LONG, LONG, LONG, LONG]);
    await answered(say('Are you still there?'));
    await until('three summaries', () => model.asked.summaries > 2, 60_000);
    await delay(500);
    const list = shown(await command('summaries', 'list'));
    expect(list).toMatch(/^[3-9] in the stack/);
  }, 240_000);

  test('lists its memories by pages and forgets one for good', async () => {
    const list = await command('memory', 'list');
    expect(list.data.flags).toBe(64);
    expect(list.data.embeds[0]?.footer?.text).toMatch(/^Page 1 of [2-9]/);
    expect(shown(list)).toMatch(/^\d+ memories here/);
    const second = await press(list, 'Next');
    expect(second.data.embeds[0]?.footer?.text).toMatch(/^Page 2/);
    const [, id = '', text = ''] = /`(\w{26})` · \w+ · (The \w+ belongs to \w+ of \w+\.)/.exec(shown(list)) ?? [];
    const asked = await command('memory', 'forget', { id });
    expect(asked.data.embeds[0]?.title).toBe('Forget this?');
    const done = await press(asked, 'Delete for good');
    expect(done.data.embeds[0]?.title).toBe('Forgotten');
    const found = shown(await command('memory', 'search', { query: text }));
    expect(found).not.toContain(id);
    expect(found).not.toContain(`· ${text}`);
    said.splice(0, said.length, ...said.filter((line) => !line.includes(text)));
  }, 120_000);
});

describe('a token that Discord refuses', () => {
  test('ends the start with one sentence that names the remedy', async () => {
    using other = openFolder({ DISCORD_BOT_TOKEN: 'wrong' });
    const table = `[channels.discord]\ntoken = "env:DISCORD_BOT_TOKEN"\nrest_url = "${double.restUrl}"\n`;
    writeFileSync(other.file('config.toml'), table);
    const { code, stderr } = await other.runProcess(['start']);
    expect(code).toBe(1);
    expect(stderr.trim().split('\n').at(-1)).toMatch(/Discord refused the bot: the token is invalid\. Copy a new one/);
  });

  test('withdrawn while running ends the process the same way', async () => {
    const own = await startDiscord();
    using other = openFolder({ DISCORD_BOT_TOKEN: TOKEN });
    const table = `[channels.discord]\ntoken = "env:DISCORD_BOT_TOKEN"\nrest_url = "${own.restUrl}"\n`;
    writeFileSync(other.file('config.toml'), table);
    const running = ended(other.start(['start']));
    await until('the connection', () => own.gateway.identifies.length === 1, 60_000);
    own.gateway.closeAll(4004);
    const { code, stderr } = await running;
    await own.close();
    expect(code).toBe(1);
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^strata: Discord refused the bot: the token is invalid\./);
  }, 120_000);
});

describe('a process that is killed with -9', () => {
  // Shows: R27
  test('mid-reply, answers once after restarting and reads what it missed', async () => {
    const [slip, secret] = [say('I have a catt.'), say('My secret is safe.')];
    await answered(secret);
    model.hold.add(`x${names + 1}`);
    const owed = say('Are you there before the end?');
    await until('the question', () => model.held.includes(owed));
    bot.child.kill('SIGKILL');
    await bot.exit;
    model.release();
    double.edit(messageOf(slip), `${slip} I have a cat.`, { silent: true });
    double.remove(messageOf(secret), { silent: true });
    said.splice(said.indexOf(`${slip} I have a catt.`), 2, `${slip} I have a cat.`);
    const missed = ['Did you miss this?', 'And this?'].map((text) => say(text, { silent: true }));
    await start();
    await answered(missed[1] ?? '', 20_000);
    await answered(say('All well again?'));
  }, 120_000);

  test('between a post and the note of it, doubles nothing', async () => {
    double.rest.silence('POST', /messages$/);
    const asked = say('Will you say this twice?');
    // The post exists, but the process that made it never gets the response.
    await until('the post', () => answerTo(asked));
    bot.child.kill('SIGKILL');
    await bot.exit;
    await start();
    await answered(say('And now?'));
    expect(answers().filter(({ content }) => content.startsWith(`Answer to ${asked}.`))).toHaveLength(1);
  }, 120_000);

  // Shows: A
  test('loses and doubles nothing, and stops cleanly', async () => {
    bot.child.kill('SIGTERM');
    expect(await bot.exit).toBe(0);
    const contents = answers().map(({ content }) => content.split('.')[0]);
    expect(new Set(contents).size).toBe(contents.length);

    const { store } = await createSqliteStorage({ directory: folder.file('data') });
    const conversation = await store.conversations.find(parseKey(KEY).key);
    if (conversation === null) throw new Error('no conversation');
    const entries = await store.transcript.read(conversation.id, {
      fromSeq: 1,
      toSeq: conversation.nextSeq - 1,
      limit: 10_000,
    });
    const kept = entries
      .filter(({ role, redactedAt }) => role === 'user' && redactedAt === null)
      .map(({ parts }) => textOf(parts));
    expect(kept).toEqual(said);
    expect(conversation.answeredUpto).toBeGreaterThanOrEqual(conversation.replyDueSeq);
    const runs = await store.journal.runs(conversation.id, 100);
    const triggers = new Set(runs.map(({ trigger }) => trigger));
    expect([...triggers]).toEqual(expect.arrayContaining(['background', 'aggressive', 'gap']));
    expect(await store.outbox.pending(null)).toEqual([]);
    await store.close();
  }, 120_000);
});

let facts = 0;

/** Something worth remembering that shares no telling word with any other. */
function fact(): string {
  facts += 1;
  return `The ${word(facts * 3)} belongs to ${word(facts * 3 + 1)} of ${word(facts * 3 + 2)}.`;
}

/** An invented word for each number. */
function word(number: number): string {
  const digits = (number * 7919 + 10_007).toString(6);
  return [...digits].map((digit) => ['ka', 'lo', 'mi', 'nu', 've', 'po'][Number(digit)]).join('');
}

/** Talks until the window is that full. */
async function fill(wanted: number): Promise<void> {
  for (let count = 0; (await share()) < wanted; count += 1) {
    expect(count).toBeLessThan(80);
    await answered(say(`We talk on. ${FILLER.repeat(3)}`));
  }
}

const runs = (trigger = '') => bot.output.text.split(`"run.trigger":"${trigger}`).length - 1;

/** Says all of it while a reply is being written, so that the next turn reads it at once. */
async function burst(texts: readonly string[]): Promise<void> {
  model.hold.add(`x${names + 1}`);
  const first = say('Listen.');
  await until('the question', () => model.held.includes(first));
  const all = texts.map((text) => say(text));
  model.release();
  await answered(all.at(-1) ?? first);
}
