import { describe, expect, it } from 'vitest';
import { bob, general, openWorld } from './memory.world.ts';

/** The reasons for which an extraction refuses the statement. */
async function refusalsOf(said: readonly string[], text: string) {
  await using world = await openWorld();
  for (const one of said) await world.say(one, { key: general });
  const sources = said.map((_, at) => at + 1);
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
});
