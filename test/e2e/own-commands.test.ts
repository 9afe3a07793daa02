import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DiscordDouble, startDiscord, TOKEN } from '../fixtures/discord/double.ts';
import { until } from '../fixtures/discord/kit.ts';
import { POLL_PLUGIN } from '../fixtures/poll-plugin.ts';
import {
  ADA as ADA_IN_SLACK,
  APP_TOKEN,
  BOT_TOKEN,
  type Fields,
  GENERAL as SLACK_GENERAL,
  type SlackDouble,
  startSlack,
  TEAM,
} from '../fixtures/slack/double.ts';
import { freePort, listening } from '../support/port.ts';
import { type Folder, openFolder } from './strata.ts';

/** The commands of one plugin on every channel, in a separate process. */

let discord: DiscordDouble;
let slack: SlackDouble;
let folder: Folder;
let bot: ReturnType<Folder['start']>;
let port = 0;
/** View Channels and Read Message History, without and with Manage Messages. */
const READS = String((1n << 10n) | (1n << 16n));
const MODERATES = String((1n << 10n) | (1n << 16n) | (1n << 13n));
const output = { text: '' };

beforeAll(async () => {
  discord = await startDiscord();
  slack = await startSlack();
  port = await freePort();
  folder = openFolder({ DISCORD_BOT_TOKEN: TOKEN, SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_APP_TOKEN: APP_TOKEN });
  mkdirSync(folder.file('plugins'));
  writeFileSync(folder.file('plugins/polls.ts'), POLL_PLUGIN);
  const channels = [
    `[channels.discord]\ntoken = "env:DISCORD_BOT_TOKEN"\nrest_url = "${discord.restUrl}"`,
    `[channels.slack]\nbot_token = "env:SLACK_BOT_TOKEN"\napp_token = "env:SLACK_APP_TOKEN"\napi_url = "${slack.apiUrl}"`,
    `[channels.lines]\nport = ${port}`,
  ];
  const config = ['plugins = ["./plugins/polls.ts"]', '[defaults]', 'model = "offline:demo"'];
  writeFileSync(folder.file('config.toml'), [...config, ...channels].join('\n'));
  bot = folder.start(['start']);
  for (const stream of [bot.stdout, bot.stderr])
    stream.on('data', (chunk: Buffer) => {
      output.text += chunk.toString();
    });
  const isReady = () => discord.gateway.identifies.length > 0 && slack.sockets() > 0 && discord.registered.size > 0;
  await until('the bot is connected', isReady, 60_000);
  await listening(port);
}, 120_000);

afterAll(async () => {
  bot.kill('SIGKILL');
  await discord.close();
  await slack.close();
  folder[Symbol.dispose]();
});

interface Answer {
  readonly type: number;
  readonly data: Record<string, unknown> & { readonly custom_id?: string };
}

async function interact(details: Parameters<DiscordDouble['interact']>[0]): Promise<Answer> {
  const id = discord.interact({ permissions: MODERATES, ...details });
  return await until('an answer', () => {
    const found = discord.callbacks.find((callback) => callback.id === id);
    return found?.body as Answer | undefined;
  });
}

function slash(name: string, sub: string | null, options: Record<string, string | number> = {}): Promise<Answer> {
  const values = Object.entries(options).map(([key, value]) => ({ name: key, type: 3, value }));
  const given = sub === null ? values : [{ type: 1, name: sub, options: values }];
  return interact({ type: 2, data: { id: '1', type: 1, name, options: given } });
}

/** The value next to a label, anywhere in an answer. */
function found(answer: unknown, label: string, key: 'custom_id' | 'value'): string {
  let value = '';
  JSON.stringify(answer, (_, part: unknown) => {
    if (typeof part === 'object' && part !== null && key in part && JSON.stringify(part).includes(`"${label}"`)) {
      value = String(Reflect.get(part, key));
    }
    return part;
  });
  return value;
}

const press = (customId: string) => interact({ type: 3, data: { custom_id: customId, component_type: 2 } });

describe('in Discord', () => {
  it('registers them with options, choices and completion', () => {
    const all = [...discord.registered.values()].flat() as { name: string; options: { name: string }[] }[];
    const [command] = all.filter(({ name }) => name === 'poll');
    expect(command?.options.map(({ name }) => name)).toEqual(['start', 'close']);
    expect(command?.options[0]).toMatchObject({
      options: [
        { name: 'room', type: 3, required: true, autocomplete: true },
        { name: 'question', type: 3, required: false },
        { name: 'color', required: false, choices: [{ value: 'red' }, { value: 'blue' }] },
        { name: 'days', type: 4, required: false, min_value: 1, max_value: 14 },
      ],
    });
  });

  it('completes an option', async () => {
    const options = [{ type: 1, name: 'start', options: [{ name: 'room', type: 3, value: 'ga', focused: true }] }];
    const answer = await interact({ type: 4, data: { id: '1', type: 1, name: 'poll', options } });
    expect(answer.data).toEqual({ choices: [{ name: 'garden', value: 'garden' }] });
  });

  it('asks in a form, answers everyone, and confirms buttons', async () => {
    const form = await slash('poll', 'start', { room: 'kitchen', days: 3 });
    expect(form).toMatchObject({
      type: 9,
      data: {
        title: '/poll start',
        components: [
          { label: 'What to ask', component: { type: 4, custom_id: 'question' } },
          { label: 'Its color', component: { type: 3, custom_id: 'color', options: [{ value: 'red' }, {}] } },
        ],
      },
    });
    const components = [
      { type: 18, component: { type: 4, custom_id: 'question', value: 'Tea?' } },
      { type: 18, component: { type: 3, custom_id: 'color', values: ['blue'] } },
    ];
    const done = await interact({ type: 5, data: { custom_id: String(form.data.custom_id), components } });
    const text = 'kitchen asks in blue for 3 days: Tea?';
    expect(done).toMatchObject({ type: 4, data: { flags: 0, embeds: [{ title: 'Poll', description: text }] } });
    const question = await press(found(done, 'Close it', 'custom_id'));
    expect(question).toMatchObject({ data: { flags: 64, embeds: [{ title: 'This cannot be undone' }] } });
    const closed = await press(found(question, 'Do it', 'custom_id'));
    expect(closed).toMatchObject({ data: { embeds: [{ description: expect.stringContaining('Closed:') }] } });
  });

  it('turns pages, and answers failures', async () => {
    const first = await slash('names', null);
    expect(first).toMatchObject({ data: { flags: 64, embeds: [{ footer: { text: 'Page 1 of 3' } }] } });
    const second = await press(found(first, 'Next', 'custom_id'));
    expect(JSON.stringify(second)).toContain('n16');
    const failed = await slash('broken', null);
    expect(JSON.stringify(failed)).toContain('the cause is in the log');
    expect(output.text).toContain('key 4711 refused');
  });

  it('refuses those who may not use it', async () => {
    const asked = await slash('poll', 'close', { id: 1 });
    const customId = found(asked, 'Do it', 'custom_id');
    const refused = await interact({ type: 3, permissions: READS, data: { custom_id: customId, component_type: 2 } });
    expect(JSON.stringify(refused)).toContain('the people who manage this place');
  });
});

describe('in Slack', () => {
  const answered = (count: number) => until('an answer', () => slack.answers[count]);
  const pressed = (value: string) =>
    slack.interact({
      type: 'block_actions',
      channel: { id: SLACK_GENERAL },
      container: { type: 'message', message_ts: '1.1' },
      actions: [{ type: 'button', action_id: 'button 0', block_id: 'x', value }],
    });
  const opened = (count: number) =>
    until('a form', () => slack.callsOf('views.open')[count]?.['view'] as Fields | undefined);
  const submit = ({ private_metadata, callback_id }: Fields, values: Fields) =>
    slack.interact({
      type: 'view_submission',
      user: { id: ADA_IN_SLACK, team_id: TEAM },
      view: { id: 'V1', type: 'modal', callback_id, private_metadata, state: { values }, blocks: [] },
    });

  it('asks in a form, answers everyone, and confirms buttons', async () => {
    slack.slash('poll start garden');
    const form = await opened(0);
    expect(form).toMatchObject({
      blocks: [
        { block_id: 'question', element: { type: 'plain_text_input' } },
        { block_id: 'color', element: { type: 'static_select', options: [{ value: 'red' }, { value: 'blue' }] } },
      ],
    });
    submit(form, {
      question: { question: { type: 'plain_text_input', value: 'Milk?' } },
      color: { color: { type: 'static_select', selected_option: { value: 'red' } } },
    });
    const done = await answered(0);
    expect(done).toMatchObject({ response_type: 'in_channel' });
    expect(JSON.stringify(done)).toContain('garden asks in red for 7 days: Milk?');
    pressed(found(done, 'Close it', 'value'));
    submit(await opened(1), {});
    expect(JSON.stringify(await answered(1))).toContain('Closed:');
  });

  it('turns pages, and answers failures', async () => {
    slack.slash('names');
    const first = await answered(2);
    expect(first).toMatchObject({ response_type: 'ephemeral' });
    pressed(found(first, 'Next', 'value'));
    const second = await answered(3);
    expect(second).toMatchObject({ replace_original: true });
    expect(JSON.stringify(second)).toContain('n16');
    slack.slash('broken');
    expect(JSON.stringify(await answered(4))).toContain('the cause is in the log');
    slack.slash('poll start x days=15');
    expect(JSON.stringify(await answered(5))).toContain('days must be a whole number from 1 to 14');
  });

  it('names each in the manifest', async () => {
    writeFileSync(
      folder.file('all.toml'),
      'plugins = ["./plugins/polls.ts"]\n[channels.slack]\nbot_token = "x"\napp_token = "y"\ncommands = "all"\n',
    );
    const { stdout } = await folder.run(['slack', 'manifest', '--config', 'all.toml']);
    expect(stdout).toContain('"command": "/strata-poll"');
    expect(stdout).toContain('"usage_hint": "start | close"');
  }, 120_000);
});

describe('in the terminal', () => {
  it('asks in lines, numbers choices, and shows pages', async () => {
    const lines = [
      '/poll start kitchen',
      'Who brings tea?',
      '2',
      '/names',
      '/names page=2',
      '/broken',
      '/poll start x',
    ];
    const { stdout } = await folder.run(['chat', '--data', 'own'], `${lines.join('\n')}\n\n/poll close 1\n`);
    expect(stdout).toContain('What to ask (an empty line cancels):');
    expect(stdout).toContain('Its color (an empty line cancels):\n  1. red\n  2. blue\n');
    expect(stdout).toContain('kitchen asks in blue for 7 days: Who brings tea?\nClose it: /poll close 1');
    expect(stdout).toContain('Page 1 of 3   next: /names 2');
    expect(stdout).toContain('Page 2 of 3   next: /names 3   previous: /names 1');
    expect(stdout).toContain('the cause is in the log');
    expect(stdout).toContain('Cancelled.');
    expect(stdout).toContain('Closed: Who brings tea?');
  }, 120_000);
});

describe("in a plugin's own channel", () => {
  it('runs them from lines', async () => {
    const socket = connect(port, '127.0.0.1');
    const lines = createInterface(socket)[Symbol.asyncIterator]();
    const ask = async (line: string): Promise<string> => {
      socket.write(`${line}\n`);
      const read: string[] = [];
      for (let next = await lines.next(); !next.done && next.value !== '.'; next = await lines.next()) {
        read.push(next.value);
      }
      return read.join('\n');
    };
    expect(await ask('/poll start color=red room=hall Cake?')).toContain('hall asks in red for 7 days: Cake?');
    expect(await ask('/poll start hall')).toContain(
      'question is missing. Usage: /poll start <room> <question> <color>',
    );
    expect(await ask('/names 3')).toContain('Page 3 of 3   previous: /names 2');
    expect(await ask('/nmaes')).toContain('Did you mean /names?');
    socket.destroy();
  });
});
