/** Their ids, in the format of a platform. */
export const DEMO_PEOPLE = { Ada: 'demo-ada', Bruno: 'demo-bruno', Chandra: 'demo-chandra', Mei: 'demo-mei' } as const;

export interface DemoLine {
  readonly author: keyof typeof DEMO_PEOPLE;
  readonly text: string;
}

type Said = readonly [author: DemoLine['author'], text: string];

/**
 * A conversation to watch: neighbours plan a garden party and ask the bot now and then. It is long enough for the
 * built-in model's small window that the first messages are summarised; the last questions ask about them.
 */
const said: readonly Said[] = [
  ['Ada', 'Hello everyone! My name is Ada and I prefer tea to coffee, so please put a kettle on the list.'],
  ['Bruno', 'Hi Ada. I am Bruno from number 12. I am allergic to walnuts, keep that in mind for the cake.'],
  ['Chandra', 'Chandra here. I work as a carpenter, so tables and benches are no problem.'],
  ['Mei', 'I am Mei. I live in the corner house with the big cherry tree, we can use my garden.'],
  ['Ada', 'Lovely. We decided to hold the garden party on 14 June, is that still right?'],
  ['Bruno', 'Yes, 14 June, starting at four in the afternoon.'],
  ['Ada', 'Strata, please keep all of this in mind for us.'],
  ['Mei', 'My garden holds about forty people if we leave the vegetable beds alone.'],
  ['Chandra', 'I can build six long tables. I need the wood by the first of June.'],
  ['Bruno', 'The timber yard on Mill Road sells pine boards for 9 euros each.'],
  ['Chandra', 'Pine is fine. Twenty boards should do, so about 180 euros.'],
  ['Ada', 'The street fund still has 420 euros, I checked this morning.'],
  ['Mei', 'Then we have 240 left for food and music.'],
  ['Bruno', 'My cousin Rosa plays the accordion. She would come for free if we feed her.'],
  ['Ada', 'I love the accordion! Tell her yes.'],
  ['Chandra', 'Do we need a permit for music in the garden?'],
  ['Mei', 'I asked the town hall: until ten in the evening no permit is needed.'],
  ['Ada', 'Good. Let us agree that the music stops at half past nine.'],
  ['Bruno', 'Strata, what did we decide about the date?'],
  ['Mei', 'About the food: I will make dumplings, half of them with mushrooms and no meat.'],
  ['Chandra', 'I do not eat meat, so thank you for that.'],
  ['Ada', 'I will bake the cake. Lemon and poppy seed, without any nuts because of Bruno.'],
  ['Bruno', 'You are the best. I will bring potato salad and two crates of apple juice.'],
  ['Mei', 'Who brings plates? I only have twelve, and two of them are chipped.'],
  ['Chandra', 'The school lends plates and glasses for a deposit of 50 euros.'],
  ['Ada', 'I know the caretaker, his name is Mr Okafor. I will ask him on Monday.'],
  ['Bruno', 'What do we do if it rains?'],
  ['Mei', 'My garage is empty since I sold the car. It fits perhaps twenty five people.'],
  ['Chandra', 'I have a big tarpaulin from the building site. I can hang it between the tree and the house.'],
  ['Ada', 'Perfect, so the rain plan is the garage and the tarpaulin.'],
  ['Chandra', 'Strata, who is allergic to something?'],
  ['Bruno', 'By the way, I work nights at the hospital until the tenth, so write to me rather than ring.'],
  ['Mei', 'Noted. My daughter Lian turns seven on the fifteenth, the day after.'],
  ['Ada', 'Then we need a small surprise for Lian at the party!'],
  ['Chandra', 'I could carve a wooden fox. She loves foxes, does she not?'],
  ['Mei', 'She does, she has three of them on her bed.'],
  ['Bruno', 'Then a fox it is. Let us not tell her.'],
  [
    'Ada',
    'Mr Okafor called back: the school lends us fifty plates and fifty glasses. We fetch them on the thirteenth.',
  ],
  ['Chandra', 'I can fetch them with the van, I am free that Friday.'],
  ['Mei', 'The invitations: shall I print them or do we write by hand?'],
  ['Ada', 'By hand is nicer. I have good paper from the shop where I work.'],
  ['Bruno', 'I forgot, which shop is that?'],
  ['Ada', 'The bookshop beside the station. I have been there for eleven years.'],
  ['Chandra', 'The boards have arrived. The price went up, it was 10 euros a board.'],
  ['Ada', 'So 200 euros instead of 180. The fund has 220 left then.'],
  ['Mei', 'Still enough. Flour, mushrooms and lemons will be about 60.'],
  ['Bruno', 'Rosa asks whether there is a socket outside for a small amplifier.'],
  ['Mei', 'There is one beside the back door, and I have a long cable.'],
  ['Ada', 'Strata, what is the plan if it rains?'],
  ['Chandra', 'Five tables are done. The sixth one gets shorter legs, for the children.'],
  ['Bruno', 'How many children are coming?'],
  ['Mei', 'Nine, if the twins from number 3 are well again.'],
  ['Ada', 'I will bring chalk and a skipping rope then.'],
  ['Bruno', 'The weather forecast says sun on the fourteenth. I do not trust it.'],
  ['Chandra', 'The tarpaulin goes up anyway, as a roof against the sun.'],
  ['Mei', 'Everything is ready, I think. Thank you all so much.'],
  ['Ada', 'One last check of the list, then we are done.'],
  ['Bruno', 'Strata, what does Ada prefer to drink?'],
  ['Chandra', 'Strata, what do I do for a living?'],
  ['Ada', 'Strata, what should the cake be free of, and why?'],
];

export const demoLines: readonly DemoLine[] = said.map(([author, text]) => ({ author, text }));
