import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createMembers } from '../../../adapters/channels/discord/inbound/members.ts';
import type { ConversationKey, InboundMessage } from '../../../src/adapter-kit.ts';
import {
  ADA,
  BOB,
  BOT,
  DIRECT,
  type DiscordDouble,
  ELSEWHERE,
  GENERAL,
  GUILD,
  GUILD_TWO,
  STAFF,
  startDiscord,
  VIEW,
} from '../../fixtures/discord/double.ts';
import {
  createState,
  inbound,
  type Opened,
  type OpenOptions,
  openChannel,
  type RecordedSink,
  recordSink,
  until,
} from '../../fixtures/discord/kit.ts';
import { snowflake, textChannel, thread } from '../../fixtures/discord/payloads.ts';

/** As another server might send them. */
const ODD_FIELDS = {
  embeds: null,
  attachments: [null, { id: 5 }],
  mentions: 'none',
  mention_roles: null,
  components: {},
  poll: 7,
  sticker_items: [{}],
  message_snapshots: [null],
  referenced_message: 'x',
  message_reference: [],
  type: null,
  edited_timestamp: 12,
  timestamp: 'yesterday',
  webhook_id: false,
  member: 3,
  guild_id: 4,
};
const THREAD = '500000000000000001';
const ROLE = '400000000000000007';
const key = (channel: string, guild = GUILD) => `discord:${guild}:${channel}`;
const texts = (messages: readonly InboundMessage[]) => messages.map(({ text }) => text);
const minutesAgo = (minutes: number) => snowflake(Date.now() - minutes * 60_000);

interface World extends Opened {
  readonly double: DiscordDouble;
}

/** A message arrives, the bot goes offline, `meanwhile` runs, and the bot comes back. */
async function afterAnAbsence(
  options: OpenOptions & {
    readonly before: (double: DiscordDouble) => number;
    readonly meanwhile: (double: DiscordDouble) => void;
  },
  look: (world: World) => Promise<void>,
): Promise<void> {
  const double = await startDiscord();
  const sink = recordSink();
  const first = openChannel(double, { ...options, sink });
  await first.channel.start(sink);
  const count = options.before(double);
  await until('what was said before', () => sink.messages.length === count);
  await first.channel.stop();
  options.meanwhile(double);
  const second = openChannel(double, { ...options, sink });
  try {
    await second.channel.start(sink);
    await look({ double, ...second });
  } finally {
    await second.channel.stop();
    await double.close();
  }
}

/** Everything missed has been read; later messages come after it. */
async function settled(double: DiscordDouble, sink: RecordedSink, channel = GENERAL): Promise<void> {
  double.say(channel, BOB, 'the end');
  await until('the end', () => sink.messages.some(({ text }) => text === 'the end'));
}

describe('changes while the bot was offline', () => {
  test('finds edits and deletions as well as missed messages', async () => {
    const said = (double: DiscordDouble, text: string) =>
      double.messagesIn(GENERAL).find(({ content }) => content === text) ?? expect.fail(text);
    await afterAnAbsence(
      {
        before: (double) => {
          for (const text of ['one', 'two', 'three']) double.say(GENERAL, ADA, text);
          return 3;
        },
        meanwhile: (double) => {
          double.remove(said(double, 'one'), { silent: true });
          double.edit(said(double, 'two'), 'two!', { silent: true });
          double.say(GENERAL, ADA, 'four', { silent: true });
        },
      },
      async ({ double, sink, log }) => {
        const gone = sink.messages[0]?.externalId;
        await settled(double, sink);
        expect(sink.edits.map(({ externalId, parts }) => [externalId, parts])).toEqual([
          [sink.messages[1]?.externalId, [{ kind: 'text', text: 'two!' }]],
        ]);
        expect(sink.removals).toEqual([{ conversation: key(GENERAL), externalIds: [gone] }]);
        expect(texts(sink.messages)).toEqual(['one', 'two', 'three', 'four', 'the end']);
        expect(log.lines.find(({ message }) => message === 'Applied missed edits and deletions')?.fields).toMatchObject(
          {
            edited: 1,
            removed: 1,
          },
        );
      },
    );
  });

  test.each([250, 150])('finds them behind %i missed messages', async (count) => {
    await afterAnAbsence(
      {
        table: { catch_up: { messages: 100 } },
        before: (double) => {
          for (const text of ['one', 'two', 'three']) double.say(GENERAL, ADA, text);
          return 3;
        },
        meanwhile: (double) => {
          const [one, two] = double.messagesIn(GENERAL);
          if (one === undefined || two === undefined) return;
          double.remove(one, { silent: true });
          double.edit(two, 'two!', { silent: true });
          for (let index = 0; index < count; index += 1) double.say(GENERAL, BOB, `m${index}`, { silent: true });
        },
      },
      async ({ double, sink }) => {
        await settled(double, sink);
        expect(sink.removals.map(({ externalIds }) => externalIds)).toEqual([[sink.messages[0]?.externalId]]);
        expect(sink.edits.map(({ externalId }) => externalId)).toEqual([sink.messages[1]?.externalId]);
        expect(sink.messages).toHaveLength(3 + 100 + 1);
        expect(sink.order.slice(3, 5)).toEqual(['removal', 'edit two!']);
      },
    );
  });

  test('reads a bounded number of pages to find them', async () => {
    await afterAnAbsence(
      {
        table: { catch_up: { messages: 100 } },
        before: (double) => {
          double.say(GENERAL, ADA, 'one');
          return 1;
        },
        meanwhile: (double) => {
          for (let index = 0; index < 1_000; index += 1) double.say(GENERAL, BOB, `m${index}`, { silent: true });
        },
      },
      async ({ double, sink }) => {
        await settled(double, sink);
        expect(double.rest.sent('GET', new RegExp(`/channels/${GENERAL}/messages`))).toHaveLength(4);
      },
    );
  });

  test('finds them where channels name no newest message', async () => {
    await afterAnAbsence(
      {
        before: (double) => {
          double.say(GENERAL, ADA, 'one');
          double.world.namesNewest = false;
          return 1;
        },
        meanwhile: (double) => double.say(GENERAL, ADA, 'two', { silent: true }),
      },
      async ({ double, sink }) => {
        await settled(double, sink);
        expect(texts(sink.messages)).toEqual(['one', 'two', 'the end']);
      },
    );
  });

  /** Servers such as Spacebar answer with the status as the code. */
  const fails404 = (double: DiscordDouble) =>
    double.rest.fail('GET', /messages\/\d+$/, { status: 404, code: 404, times: 9 });

  test.each([
    ['Discord', () => undefined],
    ['other servers', fails404],
  ])('takes nothing for deleted without the history, on %s', async (_, fails) => {
    await afterAnAbsence(
      {
        before: (double) => {
          double.say(GENERAL, ADA, 'one');
          return 1;
        },
        meanwhile: (double) => {
          double.world.readsHistory = false;
          fails(double);
        },
      },
      async ({ double, sink }) => {
        await settled(double, sink);
        expect(double.rest.sent('GET', /messages\/\d+$/)).toHaveLength(1);
        expect(sink.removals).toEqual([]);
      },
    );
  });

  test('finds deletions on servers with other error codes', async () => {
    await afterAnAbsence(
      {
        before: (double) => {
          for (const text of ['one', 'two']) double.say(GENERAL, ADA, text);
          return 2;
        },
        meanwhile: (double) => {
          const [one] = double.messagesIn(GENERAL);
          if (one !== undefined) double.remove(one, { silent: true });
          fails404(double);
        },
      },
      async ({ double, sink }) => {
        await settled(double, sink);
        expect(sink.removals.map(({ externalIds }) => externalIds)).toEqual([[sink.messages[0]?.externalId]]);
      },
    );
  });

  test('is not requested where nothing was said for days', async () => {
    const double = await startDiscord();
    const sink = recordSink();
    const old = double.say(GENERAL, ADA, 'long ago', { id: minutesAgo(60 * 24 * 4), silent: true });
    await sink.message({ ...inbound(GENERAL, old.id), at: Date.parse(old.timestamp) });
    const { channel } = openChannel(double, { sink });
    await channel.start(sink);
    await settled(double, sink);
    expect(double.rest.sent('GET', /messages/)).toEqual([]);
    await channel.stop();
    await double.close();
  });
});

describe('changes and missed messages', () => {
  const said = (double: DiscordDouble, text: string) =>
    double.messagesIn(GENERAL).find(({ content }) => content === text) ?? expect.fail(text);

  test('arrive in order: changes first, then messages', async () => {
    await afterAnAbsence(
      {
        before: (double) => {
          for (const text of ['my tent is orange', 'a secret']) double.say(GENERAL, ADA, text);
          return 2;
        },
        meanwhile: (double) => {
          double.edit(said(double, 'my tent is orange'), 'my tent is turquoise', { silent: true });
          double.remove(said(double, 'a secret'), { silent: true });
          double.say(GENERAL, ADA, 'which colour is my tent?', { silent: true });
        },
      },
      async ({ double, sink }) => {
        await settled(double, sink);
        expect(sink.order).toEqual([
          'message my tent is orange',
          'message a secret',
          'removal',
          'edit my tent is turquoise',
          'message which colour is my tent?',
          'message the end',
        ]);
      },
    );
  });

  test('are read though single messages cannot be', async () => {
    await afterAnAbsence(
      {
        before: (double) => {
          double.say(GENERAL, ADA, 'heard');
          return 1;
        },
        meanwhile: (double) => {
          Object.assign(double.say(GENERAL, ADA, 'with odd fields', { silent: true }), ODD_FIELDS);
          Object.assign(double.say(GENERAL, ADA, 'of nobody', { silent: true }), { author: null });
          double.say(GENERAL, ADA, 'missed', { silent: true });
        },
      },
      async ({ double, sink, log }) => {
        await settled(double, sink);
        expect(texts(sink.messages)).toEqual(['heard', 'with odd fields', 'missed', 'the end']);
        expect(sink.drops).toContainEqual(
          expect.objectContaining({
            reason: 'malformed',
            channel: GENERAL,
            problem: expect.stringContaining('author'),
          }),
        );
        expect(log.lines.find(({ message }) => message === 'Stored missed messages')?.fields['messages']).toBe(2);
      },
    );
  });

  test('of a deleted channel are not waited for', async () => {
    const state = createState();
    await afterAnAbsence(
      {
        state,
        before: (double) => {
          double.addChannel(thread({ id: THREAD, guild_id: GUILD, parent_id: GENERAL }));
          double.say(THREAD, ADA, 'in a thread');
          return 1;
        },
        meanwhile: (double) => double.removeChannel(THREAD),
      },
      async ({ double, sink, log }) => {
        await settled(double, sink);
        const unread = log.lines.find(({ message }) => message === 'Missed messages could not be read');
        expect(unread?.level).toBe('debug');
        expect(await state.list('discord.unread')).toEqual([]);
      },
    );
  });

  test.each(['CHANNEL_DELETE', 'GUILD_DELETE'])('are given up after a %s', async (event) => {
    const state = createState();
    await afterAnAbsence(
      {
        state,
        table: { purge_on_leave: true },
        before: (double) => {
          double.say(GENERAL, ADA, 'heard');
          return 1;
        },
        meanwhile: (double) =>
          double.rest.fail('GET', /channels\/\d+\/messages$/, { status: 403, times: 1, code: 50001 }),
      },
      async ({ double, sink }) => {
        await until('the note', async () => (await state.list('discord.unread')).length === 1);
        double.world.guilds = [GUILD_TWO];
        const gone = { id: GENERAL, guild_id: GUILD, name: 'general' };
        double.gateway.dispatch(GUILD, event, event === 'GUILD_DELETE' ? { id: GUILD } : textChannel(gone));
        await until('the end of its data', () => sink.gone.includes(key(GENERAL) as ConversationKey));
        await until('nothing is left', async () => (await state.list('discord.unread')).length === 0);
      },
    );
  });

  test('are read at the next start when unreadable now', async () => {
    const [double, state, sink] = [await startDiscord(), createState(), recordSink()];
    const heard = double.say(GENERAL, ADA, 'heard', { silent: true });
    await sink.message(inbound(GENERAL, heard.id));
    double.say(GENERAL, ADA, 'missed', { silent: true });
    double.rest.fail('GET', /channels\/\d+\/messages$/, { status: 403, times: 1, code: 50001 });
    for (const text of ['live', 'live again']) {
      const { channel } = openChannel(double, { sink, state });
      await channel.start(sink);
      double.say(GENERAL, BOB, text);
      await until(text, () => texts(sink.messages).includes(text));
      await channel.stop();
    }
    expect(texts(sink.messages)).toEqual(['start', 'live', 'missed', 'live again']);
    expect(await state.list('discord.unread')).toEqual([]);
    await double.close();
  });
});

test('a stop does not wait for rate limits', async () => {
  await afterAnAbsence(
    {
      before: (double) => {
        double.say(GENERAL, ADA, 'before');
        return 1;
      },
      meanwhile: (double) => double.rest.limit('GET', /messages$/, { forMs: 60_000 }),
    },
    async ({ channel, log }) => {
      const limit = await until('the limit', () => log.lines.find(({ message }) => message.includes('rate limit')));
      expect(limit).toMatchObject({ level: 'warn', fields: { waitMs: expect.closeTo(60_000, -3) } });
      expect(await Promise.race([channel.stop().then(() => 'stopped'), delay(2_000, 'still waiting')])).toBe('stopped');
    },
  );
});

test('reads no page twice of a channel that repeats itself', async () => {
  const path = new RegExp(`/channels/${GENERAL}/messages$`);
  await afterAnAbsence(
    {
      before(double) {
        double.say(GENERAL, ADA, 'before');
        return 1;
      },
      meanwhile(double) {
        const unreadable = Array.from({ length: 100 }, () => ({ id: snowflake() }));
        double.rest.answer('GET', path, unreadable);
        double.say(STAFF, ADA, 'elsewhere');
      },
    },
    async ({ double, sink }) => {
      await until('another channel', () => sink.messages.length === 2);
      await settled(double, sink);
      expect(double.rest.sent('GET', path).length).toBe(2);
    },
  );
});

test('the bot’s own replies do not count as missed', async () => {
  await afterAnAbsence(
    {
      before: (double) => {
        double.say(GENERAL, ADA, 'heard');
        return 1;
      },
      meanwhile: (double) => double.say(GENERAL, BOT, 'the answer', { silent: true }),
    },
    async ({ double, sink, log }) => {
      await settled(double, sink);
      expect(log.lines.filter(({ message }) => message === 'Stored missed messages')).toEqual([]);
    },
  );
});

describe('a place without stored messages', () => {
  test('reads threads and channels from where people spoke', async () => {
    await afterAnAbsence(
      {
        before: (double) => {
          double.say(STAFF, BOB, 'before the bot was there', { id: minutesAgo(90), silent: true });
          double.say(GENERAL, ADA, 'heard');
          return 1;
        },
        meanwhile: (double) => {
          double.addChannel(thread({ id: THREAD, guild_id: GUILD, parent_id: GENERAL }));
          double.say(THREAD, BOB, 'in a new thread', { silent: true });
          double.say(STAFF, BOB, 'among the staff', { silent: true });
        },
      },
      async ({ double, sink }) => {
        await until('both', () => sink.messages.length === 3);
        await settled(double, sink);
        expect(sink.messages.map(({ conversation, text }) => [conversation, text]).toSorted()).toEqual(
          [
            [key(GENERAL), 'heard'],
            [key(GENERAL), 'the end'],
            [`${key(GENERAL)}:${THREAD}`, 'in a new thread'],
            [key(STAFF), 'among the staff'],
          ].toSorted(),
        );
      },
    );
  });

  test('reads unstored messages despite newer ones elsewhere', async () => {
    await afterAnAbsence(
      {
        before: (double) => {
          double.say(STAFF, BOB, 'on its way', { id: minutesAgo(1), silent: true });
          double.say(GENERAL, ADA, 'heard');
          return 1;
        },
        meanwhile: () => undefined,
      },
      async ({ sink }) => {
        await until('the message', () => texts(sink.messages).includes('on its way'));
      },
    );
  });

  test('a bot that heard nothing yet reads no past', async () => {
    const double = await startDiscord();
    double.say(GENERAL, ADA, 'the past', { silent: true });
    const { channel, sink } = openChannel(double);
    await channel.start(sink);
    await settled(double, sink);
    expect(texts(sink.messages)).toEqual(['the end']);
    await channel.stop();
    await double.close();
  });

  test('the first message counts though the bot died before it', async () => {
    const [double, state] = [await startDiscord(), createState()];
    double.say(GENERAL, ADA, 'the past', { silent: true });
    const first = openChannel(double, { state });
    await first.channel.start(first.sink);
    await until('the beginning', async () => (await state.list('discord.connected')).length > 0);
    await first.channel.stop();
    double.say(GENERAL, ADA, 'the first', { silent: true });
    const { channel, sink } = openChannel(double, { state });
    await channel.start(sink);
    await settled(double, sink);
    expect(texts(sink.messages)).toEqual(['the first', 'the end']);
    expect(await state.list('discord.connected')).toEqual([]);
    await channel.stop();
    await double.close();
  });
});

describe('authors of missed messages', () => {
  test('have the roles of the last minute', async () => {
    let now = 0;
    let roles = [ROLE];
    const rest = { get: async () => ({ nick: null, roles }) };
    const members = createMembers({ rest, clock: { now: () => now } });
    expect((await members.of(GUILD, ADA.id))?.roles).toEqual([ROLE]);
    roles = [];
    now = 60_000;
    expect((await members.of(GUILD, ADA.id))?.roles).toEqual([]);
  });

  test('is known by the server’s names and roles', async () => {
    await afterAnAbsence(
      {
        table: { roles: { allow: [ROLE] } },
        before: (double) => {
          double.addMember(ADA, { nick: 'Countess', roles: [ROLE] });
          double.addMember(BOB);
          double.say(GENERAL, ADA, 'heard', { member: { roles: [ROLE] } });
          return 1;
        },
        meanwhile: (double) => {
          double.say(GENERAL, ADA, 'from one with the role', { silent: true });
          double.say(GENERAL, BOB, 'from one without', { silent: true });
        },
      },
      async ({ double, sink }) => {
        await until('the missed one', () => sink.messages.length === 2);
        double.say(GENERAL, ADA, 'the end', { member: { roles: [ROLE] } });
        await until('the end', () => sink.messages.length === 3);
        expect(sink.messages.map(({ author, text }) => [author.name, text])).toEqual([
          ['Ada', 'heard'],
          ['Countess', 'from one with the role'],
          ['Ada', 'the end'],
        ]);
      },
    );
  });
});

test('closes a channel turned private before keeping missed messages', async () => {
  const hidden = [{ id: GUILD, type: 0, allow: '0', deny: String(VIEW) }];
  await afterAnAbsence(
    {
      before: (double) => {
        double.say(GENERAL, ADA, 'heard by all');
        return 1;
      },
      meanwhile: (double) => {
        double.addChannel({ ...textChannel({ id: GENERAL, guild_id: GUILD, permission_overwrites: hidden }) });
        double.say(GENERAL, ADA, 'among us', { silent: true });
      },
    },
    async ({ double, sink }) => {
      await settled(double, sink);
      expect(sink.order).toEqual(['message heard by all', 'audience private', 'message among us', 'message the end']);
      expect(sink.messages.map(({ audience }) => audience)).toEqual(['public', 'private', 'private']);
    },
  );
});

describe('how long it takes', () => {
  test('a live message waits for its own channel alone', async () => {
    const threads = [1, 2, 3].map((number) => `50000000000000000${number}`);
    const busy = [STAFF, ELSEWHERE, ...threads];
    const asked = (double: DiscordDouble) =>
      double.rest.sent('GET', new RegExp(`/(${busy.join('|')})/messages$`)).length;
    await afterAnAbsence(
      {
        before: (double) => {
          for (const id of threads) double.addChannel(thread({ id, guild_id: GUILD, parent_id: GENERAL }));
          double.say(GENERAL, ADA, 'heard', { id: minutesAgo(1) });
          for (const place of busy) double.say(place, ADA, 'heard');
          return 1 + busy.length;
        },
        meanwhile: (double) => {
          for (const id of busy) double.rest.limit('GET', new RegExp(`/${id}/messages$`), { forMs: 2_500 });
        },
      },
      async ({ double, sink }) => {
        double.say(GENERAL, ADA, 'at once');
        await until('the message', () => texts(sink.messages).includes('at once'));
        // Waits until as many requests as run at once are pending.
        expect(asked(double)).toBe(4);
      },
    );
  });

  test('a live message of an unreadable channel is stored', async () => {
    const [history, state] = [Promise.withResolvers<void>(), createState()];
    await afterAnAbsence(
      {
        state,
        before: (double) => {
          double.say(GENERAL, ADA, 'heard');
          return 1;
        },
        meanwhile: (double) => {
          double.say(GENERAL, ADA, 'missed', { silent: true });
          double.rest.delay('GET', new RegExp(`/${GENERAL}/messages$`), history.promise);
        },
      },
      async ({ double, sink }) => {
        for (const text of ['live', 'live again']) double.say(GENERAL, BOB, text);
        await until('the messages', () => texts(sink.messages).includes('live again'), 12_000);
        expect(texts(sink.messages)).toEqual(['heard', 'live', 'live again']);
        expect(await state.list('discord.unread')).toMatchObject([{ value: sink.messages[0]?.externalId }]);
        history.resolve();
        await until('the missed message', () => texts(sink.messages).includes('missed'));
        await until('nothing is left', async () => (await state.list('discord.unread')).length === 0);
      },
    );
  });

  test('a lookup that fails briefly loses no message', async () => {
    const double = await startDiscord();
    const { channel, sink } = openChannel(double);
    await channel.start(sink);
    double.addChannel(thread({ id: THREAD, guild_id: GUILD, parent_id: GENERAL }));
    double.rest.fail('GET', new RegExp(`/channels/${THREAD}$`), { status: 503, times: 4 });
    double.say(THREAD, ADA, 'in a thread that nobody told of');
    await until('the message', () => sink.messages.length === 1, 60_000);
    await channel.stop();
    await double.close();
  }, 120_000);
});

describe('a place that the bot lost while it was away', () => {
  const said = (double: DiscordDouble) => {
    double.addChannel(thread({ id: THREAD, guild_id: GUILD, parent_id: GENERAL }));
    for (const place of [GENERAL, THREAD, STAFF, ELSEWHERE, DIRECT]) double.say(place, ADA, 'hello');
    return 5;
  };
  const lose = (double: DiscordDouble) => {
    double.removeChannel(THREAD);
    double.removeChannel(STAFF);
    double.world.guilds.splice(0, 2, GUILD);
  };

  test('is purged at the next start, and nothing else', async () => {
    await afterAnAbsence({ table: { purge_on_leave: true }, before: said, meanwhile: lose }, async ({ sink }) => {
      await until('all of it', () => sink.gone.length === 3);
      await delay(30);
      expect(sink.gone.toSorted()).toEqual(
        [`${key(GENERAL)}:${THREAD}`, key(STAFF), key(ELSEWHERE, GUILD_TWO)].toSorted(),
      );
    });
  });

  test('is purged although another one cannot be looked up', async () => {
    const meanwhile = (double: DiscordDouble) => {
      lose(double);
      double.rest.fail('GET', new RegExp(`/guilds/${GUILD_TWO}$`), { status: 500, times: 4 });
    };
    await afterAnAbsence({ table: { purge_on_leave: true }, before: said, meanwhile }, async ({ sink }) => {
      await until('all of it', () => sink.gone.length === 2, 10_000);
      expect(sink.gone.toSorted()).toEqual([`${key(GENERAL)}:${THREAD}`, key(STAFF)].toSorted());
    });
  });

  test('is kept by default', async () => {
    await afterAnAbsence({ before: said, meanwhile: lose }, async ({ double, sink }) => {
      await settled(double, sink);
      expect(sink.gone).toEqual([]);
    });
  });
});

test('imported messages with foreign ids do no harm', async () => {
  const double = await startDiscord();
  const sink = recordSink();
  await sink.message(inbound(STAFF, 'imported-17'));
  await sink.message(inbound(GENERAL, double.say(GENERAL, ADA, 'start', { silent: true }).id));
  double.say(GENERAL, ADA, 'missed', { silent: true });
  const { channel } = openChannel(double, { sink });
  await channel.start(sink);
  await until('the missed one', () => texts(sink.messages).includes('missed'));
  await channel.stop();
  await double.close();
});

describe('a server that Discord could not serve', () => {
  const hidden = [{ id: GUILD_TWO, type: 0, allow: '0', deny: String(VIEW) }];
  const saidElsewhere = (double: DiscordDouble) => {
    double.say(ELSEWHERE, ADA, 'before');
    return 1;
  };
  /** Somebody edits, writes, and hides the channel; then the server is back, and somebody writes again. */
  function comeBack(double: DiscordDouble, { sink }: Pick<Opened, 'sink'>): void {
    const [before] = double.messagesIn(ELSEWHERE);
    if (before !== undefined) double.edit(before, 'before!', { silent: true });
    double.say(ELSEWHERE, ADA, 'missed', { silent: true });
    const name = 'elsewhere';
    double.addChannel(
      textChannel({ id: ELSEWHERE, guild_id: GUILD_TWO, name, permission_overwrites: hidden }) as never,
    );
    sink.order.length = 0;
    double.gateway.dispatch(GUILD_TWO, 'GUILD_CREATE', double.guildPayload(GUILD_TWO));
    double.say(ELSEWHERE, BOB, 'live');
  }
  const CAUGHT_UP = ['audience private', 'edit before!', 'message missed', 'message live'];

  test('is read once it is available again', async () => {
    const double = await startDiscord();
    const world = openChannel(double);
    await world.channel.start(world.sink);
    saidElsewhere(double);
    await until('the first message', () => world.sink.messages.length === 1);
    double.gateway.dispatch(GUILD_TWO, 'GUILD_DELETE', { id: GUILD_TWO, unavailable: true });
    comeBack(double, world);
    await until('the live message', () => texts(world.sink.messages).includes('live'));
    expect(world.sink.order).toEqual(CAUGHT_UP);
    await world.channel.stop();
    await double.close();
  });

  test('loses nothing said before a message that comes too early', async () => {
    const double = await startDiscord();
    const world = openChannel(double);
    await world.channel.start(world.sink);
    double.say(GENERAL, ADA, 'before');
    await until('the first message', () => world.sink.messages.length === 1);
    double.world.unavailable.push(GUILD_TWO);
    double.say(ELSEWHERE, ADA, 'missed', { silent: true });
    double.gateway.invalidate();
    await until('the next session', () => double.gateway.identifies.length === 2 && double.gateway.live === 1, 20_000);
    double.say(ELSEWHERE, BOB, 'early');
    await until('it waits no longer', () => texts(world.sink.messages).includes('early'), 30_000);
    double.gateway.dispatch(GUILD_TWO, 'GUILD_CREATE', double.guildPayload(GUILD_TWO));
    await until('the missed one', () => texts(world.sink.messages).includes('missed'), 10_000);
    await world.channel.stop();
    await double.close();
  });

  test('at the start is caught up with later', async () => {
    await afterAnAbsence(
      { before: saidElsewhere, meanwhile: ({ world }) => void world.unavailable.push(GUILD_TWO) },
      async (world) => {
        expect(world.double.rest.sent('GET', /messages/)).toEqual([]);
        comeBack(world.double, world);
        await until('the live message', () => texts(world.sink.messages).includes('live'));
        expect(world.sink.order).toEqual(CAUGHT_UP);
      },
    );
  });
});
