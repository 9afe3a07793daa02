import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { parseKey, type Store, textOf } from '../../src/adapter-kit.ts';
import { type ScriptedServer, startScriptedModel } from '../fixtures/discord/model.ts';
import {
  ADA,
  APP_TOKEN,
  BOT,
  BOT_TOKEN,
  DIRECT,
  type Fields,
  GENERAL,
  type SlackDouble,
  startSlack,
  TEAM,
} from '../fixtures/slack/double.ts';
import { until } from '../fixtures/slack/kit.ts';
import { FILLER, jump, LONG } from './jump.ts';
import { ended, type Folder, openFolder } from './strata.ts';

/** The whole of Strata as its own process: Slack on one side, a model's HTTP interface on the other. */

const WINDOW = 6_000;

let slack: SlackDouble;
let model: ScriptedServer;
let folder: Folder;
let bot: ReturnType<typeof run>;
let thread = '';
const said: string[] = [];

beforeAll(async () => {
  slack = await startSlack();
  model = await startScriptedModel();
  folder = openFolder({ SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_APP_TOKEN: APP_TOKEN });
  writeFileSync(
    folder.file('config.toml'),
    [
      '[defaults]',
      'model = "scripted:m"',
      `context_window = ${WINDOW}`,
      'max_output_tokens = 400',
      '[providers.scripted]',
      `base_url = "${model.url}"`,
      '[channels.slack]',
      'bot_token = "env:SLACK_BOT_TOKEN"',
      'app_token = "env:SLACK_APP_TOKEN"',
      `api_url = "${slack.apiUrl}"`,
    ].join('\n'),
  );
});

afterAll(async () => {
  bot.child.kill('SIGKILL');
  await slack.close();
  await model.close();
  folder[Symbol.dispose]();
});

function run() {
  const before = slack.opened();
  const child = folder.start(['start', '--log-level', 'debug']);
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output.text += chunk.toString()));
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, output, exit, isConnected: () => slack.opened() > before && slack.sockets() > 0 };
}

async function start(): Promise<void> {
  bot = run();
  await until(`a connection\n${bot.output.text}`, () => bot.isConnected(), 60_000);
}

async function kill(): Promise<void> {
  bot.child.kill('SIGKILL');
  await bot.exit;
  await until('its sockets are gone', () => slack.sockets() === 0);
}

/** By its reply, and by the message in the channel that started the thread. */
async function explainedByMenu(...targets: readonly Fields[]): Promise<void> {
  const channel = { id: GENERAL };
  for (const message of targets) {
    const shortcut = { type: 'message_action', callback_id: 'why_message', channel, message };
    const explained = await answer(() => slack.interact(shortcut));
    expect(explained['response_type']).toBe('ephemeral');
    expect(shown(explained)).toContain('This is exactly what the model saw.');
    const place = { channel, container: { type: 'message', thread_ts: explained['thread_ts'] } };
    const detail = await answer(() => press(sealedOf(explained, 'Text of the newest part'), place));
    expect(shown(detail)).toContain('x0 Hello to all.');
  }
}

let names = 0;
/** A message in the thread that identifies the model's answers. */
function say(words: string, options: { readonly silent?: boolean } = {}): string {
  names += 1;
  const name = `x${names}`;
  const text = `${name} ${words}`.trim();
  said.push(text);
  const tell = options.silent ? slack.store : slack.say;
  const { ts } = tell(DIRECT, ADA, text, thread === '' ? {} : { thread_ts: thread });
  if (thread === '') thread = ts;
  return name;
}

const answers = () => slack.posted(DIRECT).filter(({ text }) => String(text).startsWith('Answer to'));
const answerTo = (name: string) => answers().find(({ text }) => String(text).startsWith(`Answer to ${name}.`));
const answered = (name: string, withinMs = 60_000) =>
  until(`an answer to ${name}\n${bot.output.text.slice(-1500)}`, () => answerTo(name), withinMs);

/** The answer to a slash command in the direct message, or to a click on it. */
async function answer(ask: () => void): Promise<Fields> {
  const before = slack.answers.length;
  ask();
  return await until('the answer of a command', () => slack.answers[before]);
}
const command = (line: string): Promise<Fields> => answer(() => slack.slash(line, { channel_id: DIRECT }));
const shown = ({ text }: Fields) => String(text);

interface Shown {
  readonly text: { readonly text: string };
  readonly value: string;
}

/** The button, or the entry of a menu in the row that holds the words. */
function sealedOf(view: Fields, label: string, words = ''): string {
  const rows = (view['blocks'] as readonly Fields[]).filter((block) => JSON.stringify(block).includes(words));
  const found: Shown[] = [];
  JSON.stringify(rows, (_, part: unknown) => {
    if (typeof part === 'object' && part !== null && 'value' in part && 'text' in part) found.push(part as Shown);
    return part;
  });
  const value = found.find(({ text }) => text.text === label)?.value;
  if (value === undefined) throw new Error(`There is no "${label}" in ${JSON.stringify(rows).slice(0, 2000)}`);
  return value;
}
const AT_MESSAGE = { channel: { id: DIRECT }, container: { type: 'message', message_ts: '1.1' } };
const AT_HOME = { response_url: '', container: { type: 'view' }, view: { id: 'V0', type: 'home' } };
function press(value: string, place: Fields = AT_MESSAGE): void {
  const action = { type: 'button', action_id: 'button 0', block_id: 'x', value };
  slack.interact({ type: 'block_actions', actions: [action], ...place });
}

/** The form that opens upon it. */
async function formAfter(ask: () => void): Promise<Fields> {
  const before = slack.callsOf('views.open').length;
  ask();
  return await until('a form', () => slack.callsOf('views.open')[before]?.['view'] as Fields | undefined);
}
function submit({ private_metadata, callback_id }: Fields, values: Fields = {}): void {
  const view = { id: 'V1', type: 'modal', callback_id, private_metadata, state: { values }, blocks: [] };
  slack.interact({ type: 'view_submission', user: { id: ADA, team_id: TEAM }, view });
}

/** The App Home after this. */
async function homeAfter(ask: () => void): Promise<Fields> {
  const before = slack.callsOf('views.publish').length;
  ask();
  return await until('the home', () => slack.callsOf('views.publish')[before]?.['view'] as Fields | undefined);
}
const openHome = () =>
  homeAfter(() => slack.emit({ type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'home' }));
const pressHome = (value: string) => press(value, AT_HOME);

/** How full the window is, as `/context` says. */
async function share(): Promise<number> {
  const percent = /(\d+) %/.exec(shown(await command('context list')))?.[1];
  return Number(percent ?? 'NaN') / 100;
}

describe('a thread of a direct message', () => {
  test('is answered in its thread, under a title', async () => {
    await start();
    const name = say(`Hello. ${fact()}`);
    expect(await answered(name)).toMatchObject({ thread_ts: thread, metadata: { event_type: 'strata_post' } });
    await until('a title', () => slack.callsOf('assistant.threads.setTitle').length === 1);
    const inPublic = slack.say(GENERAL, ADA, `<@${BOT}> x0 Hello to all.`);
    const reply = await until('an answer in the channel', () => slack.posted(GENERAL)[0]);
    expect(reply).toMatchObject({ thread_ts: inPublic.ts });
    await explainedByMenu(inPublic, reply);
  }, 120_000);

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
    expect(shown(await command('summaries list'))).toMatch(/[3-9] in the stack/);
  }, 240_000);

  test('lists its memories by pages and forgets one for good', async () => {
    const list = await command('memory list');
    expect(list['response_type']).toBe('ephemeral');
    expect(JSON.stringify(list)).toMatch(/Page 1 of [2-9]/);
    const second = await answer(() => press(sealedOf(list, 'Next')));
    expect(JSON.stringify(second)).toMatch(/Page 2/);
    const text = statementIn(list);
    const preview = await answer(() => press(sealedOf(list, 'Forget', text)));
    expect(JSON.stringify(await answer(() => press(sealedOf(preview, 'Delete for good'))))).toContain('Forgotten');
    expect(shown(await command(`memory search ${text}`))).not.toContain(`${text} ·`);
    forgotten(text);
  }, 120_000);
});

describe("the App Home is the person's memory manager", () => {
  // Shows: G
  test('still works after the process was killed', async () => {
    const home = await openHome();
    expect(JSON.stringify(home)).toMatch(/Page 1 of [2-9]/);
    await kill();
    await start();
    const text = statementIn(home);
    const why = await formAfter(() => pressHome(sealedOf(home, 'Where it comes from', text)));
    expect(JSON.stringify(why)).toContain(text);

    const edit = await formAfter(() => pressHome(sealedOf(home, 'Edit', text)));
    expect(JSON.stringify(edit)).toContain(`"initial_value":"${text}"`);
    const corrected = text.replace('belongs', 'belonged');
    await homeAfter(() => submit(edit, { text: { text: { value: corrected } } }));
    const search = await formAfter(() => pressHome(sealedOf(home, 'Search')));
    const found = await homeAfter(() => submit(search, { query: { query: { value: corrected } } }));
    expect(JSON.stringify(found)).toContain(corrected);

    const question = await formAfter(() => pressHome(sealedOf(found, 'Forget', corrected)));
    expect(JSON.stringify(question)).toContain('Delete for good');
    await homeAfter(() => submit(question));
    expect(shown(await command(`memory search ${corrected}`))).not.toContain(`${corrected} ·`);
    forgotten(text);

    pressHome(sealedOf(home, 'Take a copy'));
    const copy = await until('a copy', () => slack.uploads.at(-1));
    expect(JSON.parse(copy.text)).toMatchObject({ person: ADA });
  }, 120_000);
});

describe('what is kept about the person in other places', () => {
  test('shows in the App Home without text; is forgotten there', async () => {
    const inChannel = { channel_id: GENERAL };
    await answer(() => slack.slash('memory remember I keep forty beehives', inChannel));
    const elsewhere = 'stored in another channel';
    const home = await openHome();
    let page = await homeAfter(() => pressHome(sealedOf(home, 'About me, everywhere')));
    while (!JSON.stringify(page).includes(elsewhere)) {
      const next = sealedOf(page, 'Next');
      page = await homeAfter(() => pressHome(next));
    }
    expect(JSON.stringify(page)).not.toContain('beehives');
    const forget = sealedOf(page, 'Forget', elsewhere);
    const question = await formAfter(() => pressHome(forget));
    expect(JSON.stringify(question)).toContain('Delete for good');
    expect(JSON.stringify(question)).not.toContain('beehives');
    await homeAfter(() => submit(question));
    const search = await answer(() => slack.slash('memory search beehives', inChannel));
    expect(shown(search)).not.toContain('forty beehives');
  }, 60_000);
});

describe('a process that is killed with -9', () => {
  // Shows: R27
  test('mid-reply, answers once after restarting and catches up', async () => {
    model.hold.add(`x${names + 1}`);
    const owed = say('Are you there before the end?');
    await until('the question', () => model.held.includes(owed));
    await kill();
    model.release();
    const missed = ['Did you miss this?', 'And this?'].map((text) => say(text, { silent: true }));
    await start();
    await answered(missed[1] ?? '', 20_000);
    await answered(say('All well again?'));
  }, 120_000);

  test('between a post and the note of it, doubles nothing', async () => {
    slack.fail('chat.postMessage', { hangs: true });
    const asked = say('Will you say this twice?');
    // The post exists, but the process that made it never gets the response.
    await until('the post', () => answerTo(asked));
    await kill();
    await start();
    await answered(say('And now?'));
    expect(answers().filter(({ text }) => String(text).startsWith(`Answer to ${asked}.`))).toHaveLength(1);
  }, 120_000);

  // Shows: A
  test('loses and doubles nothing, and stops cleanly', async () => {
    bot.child.kill('SIGTERM');
    expect(await bot.exit).toBe(0);
    const contents = answers().map(({ text }) => String(text).split('.')[0]);
    expect(new Set(contents).size).toBe(contents.length);

    const { store } = await createSqliteStorage({ directory: folder.file('data') });
    const conversation = await store.conversations.find(parseKey(`slack:${TEAM}:${DIRECT}:${thread}`).key);
    if (conversation === null) throw new Error('no conversation');
    // Messages through two sockets at the same moment may arrive in either order.
    expect((await keptIn(store, conversation.id)).toSorted()).toEqual(said.toSorted());
    expect(conversation.answeredUpto).toBeGreaterThanOrEqual(conversation.replyDueSeq);
    const runs = await store.journal.runs(conversation.id, 100);
    const triggers = new Set(runs.map(({ trigger }) => trigger));
    expect([...triggers]).toEqual(expect.arrayContaining(['background', 'aggressive', 'gap']));
    expect(await store.outbox.pending(null)).toEqual([]);
    await store.close();
  }, 120_000);
});

describe('a token that is withdrawn while the bot runs', () => {
  test('ends the process and names the remedy', async () => {
    const own = await startSlack();
    using other = openFolder({ SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_APP_TOKEN: APP_TOKEN });
    const tokens = 'bot_token = "env:SLACK_BOT_TOKEN"\napp_token = "env:SLACK_APP_TOKEN"';
    writeFileSync(other.file('config.toml'), `[channels.slack]\n${tokens}\napi_url = "${own.apiUrl}"\n`);
    const running = ended(other.start(['start']));
    await until('both connections', () => own.sockets() === 2, 60_000);
    own.world.appToken = 'another';
    own.kill();
    const { code, stderr } = await running;
    await own.close();
    expect(code).toBe(1);
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^strata: Slack refused the bot: the app token is invalid/);
  }, 120_000);
});

async function keptIn(store: Store, conversationId: number): Promise<readonly string[]> {
  const range = { fromSeq: 1, toSeq: 100_000, limit: 10_000 };
  const entries = await store.transcript.read(conversationId, range);
  return entries
    .filter(({ role, redactedAt }) => role === 'user' && redactedAt === null)
    .map(({ parts }) => textOf(parts));
}

const STATEMENT = /The \w+ belongs to \w+ of \w+\./;

/** The first statement that a list shows. */
function statementIn(list: Fields): string {
  const [text] = STATEMENT.exec(JSON.stringify(list)) ?? [];
  if (text === undefined) throw new Error(`Nothing is listed: ${JSON.stringify(list).slice(0, 500)}`);
  return text;
}

/** The messages that said it are gone with it. */
function forgotten(text: string): void {
  said.splice(0, said.length, ...said.filter((line) => !line.includes(text)));
}

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

/** The first threshold: from here on a summary is being written, which will make room. */
const DUE = 0.8;

/** Talks until the window is that full. */
async function fill(wanted: number): Promise<void> {
  for (let count = 0; (await share()) >= DUE; count += 1) {
    expect(count).toBeLessThan(100);
    await delay(100);
  }
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
  // The answer names the newest: through two sockets that may be another one than the last that was said.
  await until('an answer to all of it', () => all.some((name) => answerTo(name)), 60_000);
}
