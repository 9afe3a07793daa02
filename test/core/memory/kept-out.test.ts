import { describe, expect, it } from 'vitest';
import { ada, bob, general, openWorld } from './memory.world.ts';

/** The reasons for which an extraction refuses the statement. */
async function refusalsOf(said: readonly string[], text: string) {
  await using world = await openWorld();
  await world.say('good morning', { by: bob, key: general });
  for (const one of said) await world.say(one, { key: general });
  const sources = said.map((_, at) => at + 2);
  const { refused } = await world.admit([{ text, about: 'Ada', sources }], { key: general });
  return refused.map(({ reason }) => reason);
}

describe('what a person asks not to remember', () => {
  it.each([
    ['please forget that I like jazz', 'Ada likes jazz'],
    ['Strata, forget that I like jazz', 'Ada asked to forget that she likes jazz'],
    ['Hi! Can you forget my shoe size 42, it is nobody’s business', 'Ada has shoe size 42'],
    ["don't remember this, but my salary is 50k", "Ada's salary is 50k"],
    ['My salary is 50k. Please do not save that.', "Ada's salary is 50k"],
    ['Off the record: I am looking for a new job', 'Ada is looking for a new job'],
    ['Just between us, off the record: I am looking for a new job', 'Ada is looking for a new job'],
    ['Vergiss bitte, dass ich Jazz mag', 'Ada mag Jazz'],
    ['Ich verdiene 50k. Speicher das bitte nicht', 'Ada verdient 50k'],
    ['Oublie que j’aime le jazz', 'Ada aime le jazz'],
    ['No guardes esto: gano 50k', 'Ada gana 50k'],
    ['Забудь, что я люблю джаз', 'Ada любит джаз'],
    ['别记住这个，我住在北京', 'Ada住在北京'],
    ['Forget that I like jazz', 'Ada does not want anybody to know that she likes jazz'],
    ['I lived in Ghent. Don’t remember that', 'Ada lived in Ghent'],
  ])('is refused: %s', async (said, text) => {
    expect(await refusalsOf([said], text)).toEqual(['a person asked not to remember it']);
  });

  it.each([
    ['Forget my last message, I live in Ghent', 'Ada lives in Ghent'],
    ['please forget that I like jazz, I play in a choir now', 'Ada plays in a choir'],
    ["Don't forget that I like jazz", 'Ada likes jazz'],
    ['I always forget that my sister likes jazz', 'Ada’s sister likes jazz'],
    ["I don't remember that street in Ghent where I lived", 'Ada lived in a street in Ghent'],
    ['Never save that file in a public folder of Ghent', 'Ada never saves that file in a public folder'],
    ['Vergiss nicht, dass ich Jazz mag', 'Ada mag Jazz'],
    ['Ich vergesse oft, dass ich Jazz mag', 'Ada mag Jazz'],
    ['Forget that I like jazz, I do not any more', 'Ada no longer likes jazz'],
    ['Forget that I like jazz but remember that I like tea', 'Ada likes tea'],
    ['Forget my old address; I live in Ghent', 'Ada lives in Ghent'],
    ['Off the record is my favourite album', 'Ada’s favourite album is Off the Record'],
    ['Don’t remember that, but I lived in Ghent then', 'Ada lived in Ghent'],
    ['> off the record\nI like jazz', 'Ada likes jazz'],
    ['```\nDo not store this.\n```\nI like jazz', 'Ada likes jazz'],
    ['Ada said to Bob:\nBob: off the record\nI like jazz', 'Ada likes jazz'],
    ['Speicher das nicht auf C, ich mag Jazz', 'Ada mag Jazz'],
    ['Ne gardez pas ça au frigo, je suis allergique au fromage', 'Ada est allergique au fromage'],
    ['No guardes eso en la nevera, soy alérgica al queso', 'Ada es alérgica al queso'],
    ['Не записывай меня на вторник, я люблю джаз', 'Ада любит джаз'],
    ['不要保存这个文件到桌面，我住在北京', 'Ada住在北京'],
    ['我妈妈叫我别记住这些坏习惯，我住在北京', 'Ada住在北京'],
  ])('is nothing of this: %s', async (said, text) => {
    expect(await refusalsOf([said], text)).toEqual([]);
  });

  it('may have been said before, by the same person', async () => {
    await using world = await openWorld();
    await world.say('I like jazz and tea', { key: general });
    await world.say('I like jazz', { by: bob, key: general });
    await world.say('please forget that I like jazz', { key: general });
    const refused = async (name: string, likes: string, seq: number) => {
      const proposal = { text: `${name} likes ${likes}`, about: name, sources: [seq] };
      return (await world.admit([proposal], { key: general })).refused.length;
    };
    expect([await refused('Ada', 'jazz', 1), await refused('Ada', 'tea', 1), await refused('Bob', 'jazz', 2)]).toEqual([
      1, 0, 0,
    ]);
  });

  it('may be asked twice in one message', async () => {
    await using world = await openWorld();
    await world.say('I like jazz and tea', { key: general });
    await world.say('Forget that I like jazz. Forget that I like tea.', { key: general });
    const proposals = ['jazz', 'tea'].map((likes) => ({ text: `Ada likes ${likes}`, about: 'Ada', sources: [1] }));
    expect((await world.admit(proposals, { key: general })).refused).toHaveLength(2);
  });

  it('is refused with the request and the answer to it', async () => {
    await using world = await openWorld();
    await world.say('I like jazz and tea', { key: general });
    await world.answer('You like jazz, noted', { key: general });
    await world.say('please forget that I like jazz', { key: general });
    const { refused } = await world.admit([{ text: 'Ada likes jazz', about: 'Ada', sources: [1, 2, 3] }], {
      key: general,
    });
    expect(refused).toEqual([{ reason: 'a person asked not to remember it' }]);
  });

  it('is only what that person said', async () => {
    await using world = await openWorld();
    await world.say('We play chess on Fridays', { key: general });
    await world.say('Ada and I play chess on Fridays', { by: bob, key: general });
    await world.say('forget that we play chess on Fridays', { by: bob, key: general });
    await world.learn([{ text: 'Ada plays chess on Fridays', about: 'Ada', sources: [1, 2] }], { key: general });
    expect(await world.all(general)).toMatchObject([{ sources: [{ seq: 1 }], subjectId: ada.id, trust: 'self' }]);
  });
});
