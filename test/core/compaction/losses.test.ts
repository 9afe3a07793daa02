import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { accountFor, keptShare, lossIndexOf, lostOnce, mergeLosses } from '../../../src/search/specifics/losses.ts';
import { readAccount } from '../../../src/search/specifics/read-account.ts';
import { specificsIn } from '../../../src/search/specifics/specifics.ts';
import { cells, openWorld } from '../commands/commands.world.ts';
import { scriptedModel } from './compaction.world.ts';

const kinds = (text: string) => specificsIn(text).map((specific) => `${specific.kind}: ${specific.text}`);

describe('the specifics of a text', () => {
  it.each([
    [
      'Call Anna Novak by Friday, May 7th, 2023 at 14:30.',
      'name: Anna Novak',
      'date: Friday, May 7th, 2023',
      'date: 14:30',
    ],
    [
      'Read https://a.example/b?c=1, or write to ada@example.com',
      'link: https://a.example/b?c=1',
      'link: ada@example.com',
    ],
    ['It is in /etc/hosts and in README.md.', 'path: /etc/hosts', 'path: README.md'],
    ['The vault takes 4417-B, and 555-0199 is the number.', 'code: 4417-B', 'code: 555-0199'],
    ['It cost $1,200.50, or 30% more.', 'number: $1,200.50', 'number: 30%'],
    ['Das Treffen war am 7. Mai 2023.', 'name: Treffen', 'date: 7. Mai 2023'],
    ['Встреча 7 мая в Москве.', 'date: 7 мая', 'name: Москве'],
    ['电话是13800138000。', 'number: 13800138000'],
    ['Loyer 1 234,56 €, puis 15\u202f000', 'number: 1 234,56', 'number: 15\u202f000'],
    ['call +49 170 1234567 or (555) 123-4567', 'code: +49 170 1234567', 'code: 555) 123-4567'],
    ['pay to DE89 3704 0044 0532 0130 00 today', 'code: DE89 3704 0044 0532 0130 00'],
    ['会议在2026年11月23日，11月 23일', 'date: 2026年11月23日', 'date: 11月 23일'],
    ['السعر ١٬٢٣٤٫٥٠ في ١٤', 'number: ١٬٢٣٤٫٥٠', 'number: ١٤'],
    ['รหัสคือ๔๔๗๑ and 비밀번호는 4471이에요', 'number: ๔๔๗๑', 'number: 4471'],
    ["saat 14'te, 4471'inci", "number: 14'te", "number: 4471'inci"],
    ['½ cup and 1½ spoons', 'number: ½', 'number: 1½'],
    ['on \\\\nas\\photos and отчёт.docx', 'path: \\\\nas\\photos', 'path: отчёт.docx'],
    ['discord.gg/abc says ERR_CONN_REFUSED', 'link: discord.gg/abc', 'code: ERR_CONN_REFUSED'],
    ['ECONNREFUSED at AA:BB:CC:DD:EE:FF', 'name: ECONNREFUSED', 'code: AA:BB:CC:DD:EE:FF'],
  ])('%s', (text, ...expected) => {
    expect(kinds(text)).toEqual(expected);
  });

  it.each([
    ['prohibition', 'Never restart the server at noon'],
    ['prohibition', 'Das darf nicht gelöscht werden'],
    ['prohibition', '不要告诉别人'],
    ['promise', "I'll bring the cake"],
    ['promise', 'Я обещаю позвонить'],
  ])('are a %s in: %s', (kind, text) => {
    expect(kinds(`Well then. ${text}. And so on.`)).toContain(`${kind}: ${text}`);
  });

  it('leave out code blocks and ordinary words', () => {
    expect(kinds('Look at this:\n```\nport = 8080\n```\nIt may march on.')).toEqual([]);
  });

  it('keep their positions', () => {
    const text = '“The key” is under pot 7, says Clara.';
    for (const { start, end, text: said } of specificsIn(text)) expect(text.slice(start, end)).toBe(said);
  });
});

describe('what a summary keeps', () => {
  const sources = [
    { seq: 3, text: 'My locker is 4417-B, and Clara has 1,200 stamps.' },
    { seq: 4, text: 'Never open it before 7 May 2023! The locker is 4417-B.' },
  ];
  const summary = 'On May 7, 2023 Clara spoke of her 1200 stamps.';

  it('has a place in the summary', () => {
    const { carried } = accountFor(summary, sources);
    expect(carried.map(({ seq, text, at }) => [seq, text, summary.slice(at.start, at.end)])).toEqual([
      [3, 'Clara', 'Clara'],
      [3, '1,200', '1200'],
      [4, '7 May 2023', 'May 7, 2023'],
    ]);
  });

  it('leaves the rest in the ledger, each once', () => {
    const { lost } = accountFor(summary, sources);
    expect(lostOnce(lost).map(({ kind, text, seqs }) => [kind, text, seqs])).toEqual([
      ['code', '4417-B', [3, 4]],
      ['prohibition', 'Never open it before 7 May 2023', [4]],
    ]);
  });

  it.each([
    ['Die Miete ist 1.234,56 €', 'the rent is 1,234.56'],
    ["c'est 1 234,56 €", 'it is 1234.56'],
    ['es kostet 1’234.50', '1234.50'],
    ['السعر ١٢٣', 'price 123'],
    ['₹12,34,567', '1234567'],
    ['am 23.11.2026', 'on November 23, 2026'],
    ['2026年11月23日', 'on 2026-11-23'],
    ['call 06 12 34 56 78', 'call 0612345678'],
    ['IBAN DE89 3704 0044 0532 0130 00', 'IBAN DE89370400440532013000'],
    ['รหัสคือ ๔๔๗๑', 'the code is 4471'],
    ['a run of 20km', 'they ran 20 km'],
    ['a run of 20km', 'they ran 20 kilometres'],
    ['a run of 20 km', 'they ran 20'],
    ['it cost €1,234.50', 'it cost 1.234,50 EUR'],
    ['it costs 20 in Oslo', 'it costs $20'],
    ['20 kg of flour', '20 km away, 20 kg of flour'],
  ])('recognises "%s" in "%s"', (text, said) => {
    expect(accountFor(said, [{ seq: 1, text }]).lost.filter(({ kind }) => kind !== 'name')).toEqual([]);
  });

  it.each([
    ['السعر ١٢٣', 'السعر ٤٥٦'],
    ['कीमत १२३', 'कीमत ४५६'],
    ['ages 20–25', 'in 2025'],
    ['½ tsp', '¾ tsp'],
    ['the call at 10:30pm', 'the call at 10:30am'],
    ['2026年11月23日', '2026年11月2日, 3'],
    ['a run of 20km', 'flour, 20kg'],
    ['a run of 20 km', 'flour, 20 kg'],
    ['a run of 15 000 km', 'flour, 15000kg'],
    ['it cost $20', 'it cost €20'],
    ['30% more', '$30 more'],
    ['the call at 10pm', 'the call at 10am'],
  ])('misses "%s" in "%s"', (text, said) => {
    expect(accountFor(said, [{ seq: 1, text }]).lost).toHaveLength(1);
  });

  it('leaves a number out once for each unit', () => {
    const { lost } = accountFor('A trip.', [{ seq: 1, text: 'it was 20 km, with 20kg, so 20km' }]);
    expect(lostOnce(lost).map(({ text }) => text)).toEqual(['20', '20kg']);
  });

  it('is a share of the different specifics', () => {
    expect(keptShare(accountFor(summary, sources))).toBe(3 / 5);
    expect(keptShare(accountFor('Nothing.', [{ seq: 1, text: 'hello there' }]))).toBe(1);
  });

  it('counts a prohibition in similar words as kept', () => {
    const { carried } = accountFor('The server must never be restarted at noon.', [
      { seq: 1, text: 'Never restart the server at noon.' },
    ]);
    expect(carried.map(({ kind }) => kind)).toEqual(['prohibition']);
  });
});

describe('the index of a summary', () => {
  it('has the newest messages of each kind, once', () => {
    const codes = Array.from({ length: 300 }, (_, index) => ({ kind: 'code' as const, seq: 300 - index }));
    const index = lossIndexOf([...codes, { kind: 'link', seq: 7 }, { kind: 'link', seq: 7 }]);
    expect(index.link).toEqual([7]);
    expect([index.code?.length, index.code?.[0], index.code?.at(-1)]).toEqual([200, 101, 300]);
    expect(mergeLosses([index, { link: [3], date: [9] }])).toMatchObject({ link: [3, 7], date: [9] });
  });
});

describe('/summaries open ID lost', () => {
  it('leaves the bot a turn among many long messages', async () => {
    await using world = await openWorld();
    for (let day = 1; day <= 20; day += 1) await world.say(`On day ${day} Clara met Otto in Kirkenes. `.repeat(250));
    const { store } = world.bot.services;
    const conversation = await store.conversations.find(world.place);
    const covered = { conversationId: conversation?.id ?? 0, text: 'A trip.', fromSeq: 1, toSeq: 40 };
    let isOver = false;
    const account = readAccount(store, covered).finally(() => {
      isOver = true;
    });
    let turns = 0;
    for (; !isOver; turns += 1) await nextTurn();
    expect((await account).lost.length).toBeGreaterThan(5000);
    expect(turns).toBeGreaterThanOrEqual(4);
  });

  it('lists what the summary leaves out, but nothing deleted', async () => {
    const model = scriptedModel(({ purpose }) => ({ text: purpose === 'reply' ? 'I see.' : TRIP, inputTokens: 0 }), {
      window: 2000,
    });
    const models = {
      open: async () => model,
      choose: async () => ({ modelId: model.id, reason: 'it is the only one' }),
    };
    await using world = await openWorld({ parts: { models } });
    await world.say('The locker opens with 4417-B, and Clara has the spare key for it.');
    for (let day = 1; day <= 40; day += 1) await world.say(`Day ${day} of the trip was as nice as the one before.`);
    const id = cells(await world.type('/summaries'))[0]?.[0];
    const lost = await world.type(`/summaries open ${id} lost`);
    expect(cells(lost).slice(0, 2)).toEqual([
      ['code', '4417-B', '#1'],
      ['name', 'Clara', '#1'],
    ]);
    expect(lost.page?.next?.options).toMatchObject({ what: 'lost', page: '2' });
    const { store } = world.bot.services;
    const conversation = await store.conversations.find(world.place);
    const summary = (await store.summaries.live(conversation?.id ?? 0))[0];
    expect(summary?.lost).toMatchObject({ code: [1], name: [1] });
    await store.transcript.redact(conversation?.id ?? 0, { externalIds: ['m1'], now: Date.now() });
    if (summary === undefined) throw new Error('there is no summary');
    expect((await readAccount(store, summary)).lost.map(({ text }) => text)).not.toContain('4417-B');
  });
});

const TRIP = 'Day after day of the trip was as nice as the one before.';
