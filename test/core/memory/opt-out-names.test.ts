import { expect, it } from 'vitest';
import { makeKey } from '../../../src/adapter-kit.ts';
import { createOptOut } from '../../../src/memory/people/opt-out.ts';
import { general, openWorld } from './memory.world.ts';

async function isNamed(name: string, text: string): Promise<boolean> {
  await using world = await openWorld();
  const optOut = createOptOut(world.state);
  await optOut.pause({ conversation: general, authorId: 'u-paused', name }, 1);
  return (await optOut.pausedIn('test:w', [])).isNamedIn({ text, subjectName: null, isOwn: false });
}

it.each([
  ['Марина', 'Олег подарил Марине скрипку'],
  ['Марина Котова', 'Олег видел Марину Котову в Твери'],
  ['Ада', 'Вчера мы видели Аду на вокзале'],
  ['Олег', 'Вчера мы ездили с Олегом на дачу'],
  ['Mina', 'Jutro spotykamy się z Miną w Łodzi'],
  ['Béla', 'A kutyát Bélának adtuk'],
  ['Aino', 'Ainon sisko asuu Jyväskylässä'],
  ['Ayşe', "Ayşe'nin kedisi bahçede uyuyor"],
  ['Ayşe', 'Dün Ayşeyi Kadıköyde gördük'],
  ['Νίκος', 'Μιλήσαμε χθες με τον Νίκο'],
  ['მინა', 'მინას ძაღლი ჰყავს'],
  ['மீனா', 'மீனாவின் பூனை கருப்பு'],
  ['מינה', 'אתמול נתנו למינה את המפתח'],
  ['May', 'The office moves when May says so'],
  ['May', 'May likes tea'],
  ['Will', 'The door is green. Will painted it'],
  ['Will', "Will's cat is black"],
  ['Hope', 'Hope likes tea'],
  ['Hope', 'We met Hope at lunch'],
  ['Hope', 'We met hope at lunch'],
  ['Ada', 'we met ada yesterday'],
  ['ada', 'Bob met ada in Rome'],
  ['Ada', 'Die Katze von Bob mag Adas Garten'],
  ['Béla', 'The cat of Bob met Bela'],
  ['April', 'In April we visited April and her cat'],
  ['April', "The party is in April's garden"],
  ['April', 'April 2 and April agree'],
  ['Ada', 'We met in Ada 5 days ago'],
  ['ដារ៉ា', 'កូនប្រុសដារ៉ារស់នៅកំពត'],
  ['ມີນາ', 'ພວກເຮົາເຫັນມີນາຢູ່ຕະຫຼາດ'],
  ['မီနာ', 'မနေ့ကမီနာ့ကားပျက်သွားတယ်'],
])('knows that %s is in "%s"', async (name, text) => {
  expect(await isNamed(name, text)).toBe(true);
});

it.each([
  ['Mina', 'W Mińsku padał śnieg'],
  ['Ada', 'Adam wohnt in einem schönen Haus in Köln'],
  ['Ada', 'Adam hikes'],
  ['Марина', 'На ужин были маринованные огурцы'],
  ['Олег', 'Мы видели оленя у дачи'],
  ['Ainö', 'Kaikki ainoat kirjat ovat täällä'],
  ['Ли', 'Вчера мы видели Лиду на вокзале'],
  ['Martin', 'Martina hikes'],
  ['Likes', 'I think he likes tea'],
  ['李', '我的行李丢了'],
  ['', 'Nobody is named here'],
  ['🎉', 'Nobody is named here'],
  ['May', 'The office moves in May'],
  ['May', 'The office moves. May we help?'],
  ['Will', 'The build is red. Will it pass?'],
  ['The', 'The boat is red. The sail is new'],
  ['Hope', "Bob says Ada's hope is a raise"],
  ['Hope', 'Bob hopes to see Rome'],
  ['Joy', 'Cooking brings Ada joy'],
  ['Mark', 'It was Ada who got a good mark'],
  ['Bill', 'It is Ada who pays the phone bill'],
  ['May', 'The office moves on 5 May 2026'],
  ['April', 'The trip begins on April 3'],
  ['August', 'Im August fahren wir nach Rom'],
  ['Mai', 'Le bureau ferme le 5 mai'],
  ['Abril', 'La oficina cierra el 3 de abril'],
])('knows that %s is not in "%s"', async (name, text) => {
  expect(await isNamed(name, text)).toBe(false);
});

it.each(['Mina', 'our Mina', 'Мina'])('knows that a statement about %s is about Mina', async (subjectName) => {
  await using world = await openWorld();
  const optOut = createOptOut(world.state);
  await optOut.pause({ conversation: general, authorId: 'u-paused', name: 'Mina' }, 1);
  const paused = await optOut.pausedIn('test:w', []);
  expect(paused.isNamedIn({ text: 'Lives in Riga', subjectName, isOwn: false })).toBe(true);
});

it('is paused in no workspace with a longer id', async () => {
  await using world = await openWorld();
  const optOut = createOptOut(world.state);
  const other = makeKey({ platform: 'test', workspace: 'w2', channel: 'general' });
  const person = { conversation: other, authorId: 'u-paused', name: 'Mina' };
  await optOut.pause(person, 1);
  const statement = { text: 'Everybody likes Mina', subjectName: null, isOwn: false };
  expect((await optOut.pausedIn('test:w', [])).isNamedIn(statement)).toBe(false);
  await optOut.purge('test:w');
  expect(await optOut.isPaused(person)).toBe(true);
  expect((await optOut.pausedIn('test:w2', [])).isNamedIn(statement)).toBe(true);
});

it('knows that the subject of a statement lost hope', async () => {
  await using world = await openWorld();
  const optOut = createOptOut(world.state);
  await optOut.pause({ conversation: general, authorId: 'u-paused', name: 'Hope' }, 1);
  const paused = await optOut.pausedIn('test:w', []);
  const isNamedIn = (text: string) => paused.isNamedIn({ text, subjectName: 'Ada', isOwn: false });
  expect(['Ada lost hope', 'Ada met Hope', 'ada met hope'].map(isNamedIn)).toEqual([false, true, true]);
});
