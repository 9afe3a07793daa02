import { expect, it } from 'vitest';
import { estimateText } from '../../../src/context/measure/tokens.ts';
import { EVERYDAY } from '../../fixtures/everyday.ts';
import { INFLECTED } from '../../fixtures/inflections.ts';
import { LANGUAGES } from '../../fixtures/languages.ts';
import { quotedFor, remembering } from './recall.world.ts';

/** What people say without asking about anything said before. */
const ORDINARY = `
  Good morning everyone!
  Thanks, that helps a lot.
  ok, I will try that now
  What is the capital of Peru?
  How do I boil an egg?
  Can you write me a poem about rain?
  Please translate "good night" into Finnish.
  How are you today?
  That was funny. Do you like jokes?
  I am going to bed, see you tomorrow.
  Why is the sky blue?
  Hmm, should I restart it after that?
  We bought a boat! It is small, but it floats. Isn't that great?
  Explain recursion in one sentence.
  lol
  Wie spät ist es?
  Schreib mir bitte eine kurze Einladung.
  Danke, das war alles für heute.
  Quelle heure est-il ?
  Merci beaucoup, bonne soirée !
  ¿Qué tal?
  Voy a salir un rato, hasta luego.
  Come stai?
  Obrigado, até amanhã!
  Как дела?
  Спасибо, это помогло.
  今天天气怎么样？
  谢谢，我明白了。
  おはようございます。
  안녕하세요, 오늘 뭐 해요?
`
  .trim()
  .split('\n')
  .map((line) => line.trim());

/** In each of the conversations. */
const SAMPLE = [...LANGUAGES.flatMap(({ fillers }) => fillers), ...ORDINARY];
const MIN_SAMPLE = 500;

it('is silent for ordinary messages, and answers questions', async () => {
  const ordinary: { readonly text: string; readonly quoted: readonly string[] }[] = [];
  const asked: { readonly question: string; readonly isFound: boolean }[] = [];
  for (const language of LANGUAGES) {
    await using world = await remembering([...language.facts.map(([fact]) => fact), ...language.fillers]);
    for (const text of SAMPLE) ordinary.push({ text, quoted: await quotedFor(world, text) });
    for (const [fact, question] of language.facts) {
      const quoted = await quotedFor(world, question);
      asked.push({ question, isFound: quoted.some((text) => text.includes(fact)) });
    }
  }
  const loud = ordinary.filter(({ quoted }) => quoted.length > 0);
  const tokens = loud.flatMap(({ quoted }) => quoted).reduce((sum, text) => sum + estimateText(text), 0);
  const missed = asked.filter(({ isFound }) => !isFound).map(({ question }) => question);
  expect(ordinary.length).toBeGreaterThanOrEqual(MIN_SAMPLE);
  expect(loud.length / ordinary.length).toBeLessThanOrEqual(0.05);
  expect(tokens / ordinary.length).toBeLessThan(60);
  expect(missed.length / asked.length).toBeLessThanOrEqual(0.05);
});

it('is silent for general questions in most languages', async () => {
  const loud: string[] = [];
  for (const { name, said, general } of EVERYDAY) {
    const facts = INFLECTED.find((language) => language.name === name)?.facts ?? [];
    await using world = await remembering([...facts.map(([fact]) => fact), ...said]);
    for (const question of general) if ((await quotedFor(world, question)).length > 0) loud.push(question);
  }
  expect(loud.length / EVERYDAY.flatMap(({ general }) => general).length).toBeLessThan(0.03);
});

/** Facts whose question has one short word about them, or asks for a reason. */
const BRIEFLY_ASKED = `
  猫の名前はもちです | 猫の名前は何？
  犬はポチという名前にした | 犬の名前は何？
  弟は大阪に住んでいる | 弟はどこに住んでいる？
  お茶は静岡で買った | お茶はどこで買った？
  会議は台風で中止になった | 会議はなぜ中止になった？
  会议因为台风取消了 | 会议为什么取消了？
  旅行推迟是因为下雨 | 旅行为什么推迟了？
  เราเลื่อนประชุมเพราะพายุ | ทำไมเราเลื่อนประชุม?
  회의는 태풍 때문에 취소됐어요 | 회의는 왜 취소됐어요?
  Wir haben das Treffen verschoben, weil Olga krank ist | Warum haben wir das Treffen verschoben?
  Кота зовут Бублик | Как зовут кота?
  Die Generalprobe wurde auf Donnerstag um 18 Uhr verlegt | Wann findet die Generalprobe jetzt statt?
  Meine Schwester Roswitha zieht im Oktober nach Tromsø | In welche Stadt geht Roswitha im Herbst?
  Clara se mudó a Oslo con su familia | ¿En qué ciudad vive ahora Clara?
`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(' | '));

it('finds a fact in a short conversation', async () => {
  const fact = 'Die Katze heißt Mimi';
  await using world = await remembering([fact]);
  expect(await quotedFor(world, 'Wie hat Paula die Katze genannt?')).toContainEqual(expect.stringContaining(fact));
});

it.each(BRIEFLY_ASKED)('finds %s', async (fact = '', question = '') => {
  const { fillers } = LANGUAGES[0] ?? { fillers: [] };
  await using world = await remembering([fact, ...fillers]);
  expect(await quotedFor(world, question)).toContainEqual(expect.stringContaining(fact));
});
