import { describe, expect, it } from 'vitest';
import { textOf } from '../../src/adapter-kit.ts';
import { scriptedModel } from '../core/compaction/compaction.world.ts';
import { ada, general, openWorld } from '../core/memory/memory.world.ts';
import { type BotWorld, createBotWorld } from '../support/bot-world.ts';

/** Repetitions by the bot are found in every spelling and language. */

interface Case {
  readonly said: string;
  readonly memory: string;
  readonly reply: string;
}

async function textsAfterForgetting({ said, memory, reply }: Case): Promise<readonly string[]> {
  await using world = await openWorld();
  await world.say(said, { key: general });
  await world.answer(reply, { key: general });
  const { ids } = await world.learn([{ text: memory, about: 'Ada' }], { key: general });
  const by = { reader: world.reader(general), author: ada, rights: 'member' } as const;
  await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, by);
  const { id } = await world.conversation(general);
  return (await world.store.transcript.pick(id, [1, 2])).map(({ parts }) => textOf(parts));
}

const PASSWORD = { said: 'my password is swordfish', memory: "Ada's password is swordfish" };
const PIN = { said: 'my pin is 4821', memory: "Ada's PIN is 4821" };

describe('a reply that repeats forgotten text', () => {
  it.each<[string, Case]>([
    ['letter by letter', { ...PASSWORD, reply: 'S-W-O-R-D-F-I-S-H, got it' }],
    ['in two words', { ...PASSWORD, reply: 'sword fish, got it' }],
    ['in one word', { said: 'my word: sword fish', memory: "Ada's word: sword fish", reply: 'swordfish, got it' }],
    ['in lookalikes', { ...PASSWORD, reply: 'swоrdfish, got it' }],
    ['in full-width letters', { ...PASSWORD, reply: 'ｓｗｏｒｄｆｉｓｈ, got it' }],
    ['in Cyrillic lookalikes', { said: 'my word is beekeeper', memory: "Ada's word is beekeeper", reply: 'вeeкeeреr' }],
    ['with accents', { ...PASSWORD, reply: 'swórdfïsh, got it' }],
    ['with enclosing marks', { ...PASSWORD, reply: 's\u20ddw\u20ddo\u20ddr\u20ddd\u20ddf\u20ddi\u20dds\u20ddh\u20dd' }],
    ['with invisible characters', { ...PASSWORD, reply: 'sword\u200bfish, got it' }],
    ['with variation selectors', { ...PASSWORD, reply: 'sword\ufe0ffish, got it' }],
    ['in Hindi digits', { ...PIN, reply: 'ठीक है, ४८२१' }],
    ['in Arabic digits', { ...PIN, reply: 'حسنًا، ٤٨٢١' }],
    ['in Arabic digits among others', { ...PIN, reply: 'Noted: ٤٨٢١' }],
    ['in traditional characters', { said: '我的密码是剑鱼', memory: 'Ada的密码是剑鱼', reply: '好的，劍魚' }],
    ['in digits after Hindi ones', { said: 'मेरा पिन ४८२१ है', memory: 'Ada का पिन ४८२१ है', reply: 'ok 4821' }],
    ['digit by digit', { ...PIN, reply: 'Noted: 4-8-2-1' }],
    ['in groups of digits', { ...PIN, reply: 'Noted: 48 21' }],
    [
      'as one number',
      { said: 'card 4111 1111 2222 3333', memory: 'Ada has card 4111 1111 2222 3333', reply: '4111111122223333' },
    ],
    ['in Chinese', { said: '我的密码是剑鱼', memory: 'Ada的密码是剑鱼', reply: '好的，剑鱼，我记住了' }],
    [
      'in Japanese',
      {
        said: '私のパスワードはメカジキです',
        memory: 'Adaのパスワードはメカジキ',
        reply: 'メカジキですね、了解',
      },
    ],
    ['in Korean', { said: '내 비밀번호는 황새치', memory: 'Ada 비밀번호는 황새치', reply: '네, 황새치를 기억할게요' }],
    ['in Russian', { said: 'мой пароль меченосец', memory: 'Пароль Ada: меченосец', reply: 'Запомнил: меченосца' }],
    [
      'in Turkish',
      { said: 'şifrem kılıçbalığı', memory: 'Ada şifresi kılıçbalığı', reply: 'Tamam, kılıçbalığını not ettim' },
    ],
    [
      'in Finnish',
      { said: 'salasanani on miekkakala', memory: 'Adan salasana on miekkakala', reply: 'Selvä, miekkakalan muistan' },
    ],
    [
      'in Hungarian',
      { said: 'a jelszavam kardhal', memory: 'Ada jelszava kardhal', reply: 'Rendben, a kardhalat megjegyeztem' },
    ],
    [
      'in German',
      {
        said: 'mein Passwort ist Schwertfisch',
        memory: 'Adas Passwort ist Schwertfisch',
        reply: 'Des Schwertfisches gedenke ich',
      },
    ],
    ['in Arabic', { said: 'كلمة السر هي سيف', memory: 'كلمة سر Ada هي سيف', reply: 'حسنا، والسيف' }],
    ['in Hebrew', { said: 'הסיסמה שלי היא חרב', memory: 'הסיסמה של Ada היא חרב', reply: 'בסדר, החרב' }],
    [
      'in Hindi',
      { said: 'मेरा पासवर्ड तलवारमछली है', memory: 'Ada का पासवर्ड तलवारमछली है', reply: 'ठीक है, तलवारमछली याद है' },
    ],
    [
      'in Thai',
      { said: 'รหัสผ่านของฉันคือปลากระโทงดาบ', memory: 'รหัสผ่านของ Ada คือปลากระโทงดาบ', reply: 'ได้เลย ปลากระโทงดาบ' },
    ],
  ])('goes with it %s', async (_how, told) => expect(await textsAfterForgetting(told)).toEqual(['', '']));

  it.each<[string, Case]>([
    ['other words', { ...PASSWORD, reply: 'This word is fine, and so is fish.' }],
    ['another number', { ...PIN, reply: 'That costs 48210, or 14821.' }],
  ])('stays when it has %s', async (_what, told) => {
    expect(await textsAfterForgetting(told)).toEqual(['', told.reply]);
  });
});

describe('an answer that words cannot compare', () => {
  const deletions = ['on its platform', 'by command'] as const;

  for (const how of deletions) {
    it.each([
      ['was edited since', 'my password is swordfish', 'Good, swordfish.', 'never mind'],
      ['is in another script', 'my password is swordfish', 'Хорошо: рыба-меч.', null],
    ])(`goes with a message that ${how} is deleted and %s`, async (_what, said, reply, edited) => {
      const answers = [reply, 'The weather is fine.'];
      const model = scriptedModel(() => ({ text: answers.shift() ?? 'Fine.' }), { id: 'test:chat' });
      await using world = await createBotWorld({ models: [model] });
      await world.say(said, { id: 'a1' });
      await world.settled();
      await world.clock.advance(1000);
      const edit = { conversation: world.key, externalId: 'a1', at: world.clock.now() };
      if (edited !== null) await world.bot.sink.edited({ ...edit, parts: [{ kind: 'text', text: edited }] });
      await world.say('how is the weather?');
      await world.settled();
      if (how === 'by command') await world.command('memory forget', { id: '#1', confirm: 'yes' });
      else await world.bot.sink.removed({ conversation: world.key, externalIds: ['a1'] });
      await world.settled();
      expect((await world.entries()).map(({ parts }) => textOf(parts))).toEqual([
        '',
        '',
        'how is the weather?',
        'The weather is fine.',
      ]);
    });
  }
});

describe('a reply long after it that spells it otherwise', () => {
  const FAR = 100;
  const deletions: Readonly<Record<string, (world: BotWorld) => Promise<unknown>>> = {
    'on its platform': ({ bot, key }) => bot.sink.removed({ conversation: key, externalIds: ['a1'] }),
    'by command': (world) => world.command('memory forget', { id: '#1', confirm: 'yes' }),
    'with a memory': async (world) => {
      const { rows } = await world.command('memory list');
      return await world.command('memory forget', { id: rows?.cells[0]?.[0] ?? '', confirm: 'yes' });
    },
  };

  it.each(Object.entries(deletions))('goes with what is deleted %s', async (how, deleteIt) => {
    const model = scriptedModel(
      ({ messages }) => ({ text: JSON.stringify(messages.at(-1)).includes('again?') ? 'S-W-O-R-D-F-I-S-H' : 'ok' }),
      { id: 'test:chat' },
    );
    await using world = await createBotWorld({ models: [model], agent: { context_window: 60_000 } });
    const isMemory = how === 'with a memory';
    await world.say(isMemory ? 'hello' : 'my password is swordfish', { id: 'a1' });
    if (isMemory) await world.command('memory remember', { text: 'My password is swordfish' });
    for (let line = 0; line < FAR; line += 1) await world.say(`line ${line}`, { asks: false });
    await world.say('What is my password again?');
    await world.settled();
    const spelt = async () => (await world.entries()).filter(({ parts }) => textOf(parts).startsWith('S-W'));
    expect(await spelt()).toHaveLength(1);
    await deleteIt(world);
    expect(await spelt()).toEqual([]);
  });
});

it('an answer in another script goes after a burst', async () => {
  const model = scriptedModel(() => ({ text: '剑鱼，记住了' }), { id: 'test:chat' });
  await using world = await createBotWorld({ models: [model], agent: { context_window: 60_000 } });
  await world.say('my password is swordfish', { id: 'a1', asks: false });
  for (let line = 0; line < 60; line += 1) await world.say(`line ${line}`, { asks: false });
  await world.say('line 60');
  await world.settled();
  await world.bot.sink.removed({ conversation: world.key, externalIds: ['a1'] });
  expect((await world.entries()).map(({ parts }) => textOf(parts))).not.toContain('剑鱼，记住了');
});
