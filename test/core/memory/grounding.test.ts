import { expect, it } from 'vitest';
import { groundingOf } from '../../../src/memory/admission/grounding.ts';
import { user } from '../../fixtures/context.ts';

function strengthOf(statement: string, source: string) {
  return groundingOf(statement, { sources: [user(1, source)], subjectName: 'Mina', names: ['Mina'] }).strength;
}

/** What people say of themselves, and how a model writes it down. */
const SAID = `
  Muutin Ouluun | Mina asuu Oulussa
  Minulla on kaksi kissaa, Nöpö ja Misu | Minan kissojen nimet ovat Nöpö ja Misu
  Szegeden lakom és tanítok | Mina Szegeden lakik és tanít
  A kutyám neve Bodri | Mina kutyáját Bodrinak hívják
  İzmirde oturuyorum | Mina İzmir'de oturuyor
  Переехала в Тверь | Мина живёт в Твери
  Мешкаю у Львові, вчителька | Міна мешкає у Львові й працює вчителькою
  Bydlím v Olomouci a učím | Mina bydlí v Olomouci a učí
  Би Дарханд амьдардаг | Мина Дархан хотод амьдардаг
  ბათუმში ვცხოვრობ, ძაღლი მყავს | მინას ბათუმში ძაღლი ჰყავს
  Живим у Новом Саду | Mina živi u Novom Sadu
`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(' | '));

it.each(SAID)('takes "%s" for "%s"', (source = '', statement = '') => {
  expect(strengthOf(statement, source)).toBe('said');
});

it.each(SAID)('does not take "%s" for another statement', (source = '', own = '') => {
  for (const [, statement = ''] of SAID) {
    if (statement !== own) expect(strengthOf(statement, source)).not.toBe('said');
  }
});

it('keeps English words apart that begin alike', () => {
  expect(strengthOf('Mina likes carpentry', 'I have bought a carpet')).toBe('absent');
});

it.each([
  ['Tamil', 'மீனா மதுரையில் வசிக்கிறார்'],
  ['Georgian', 'მინა ბათუმში ცხოვრობს'],
  ['Amharic', 'ሚና የምትኖረው ጎንደር ነው'],
  ['Khmer', 'មីណារស់នៅកំពត'],
  ['Armenian', 'Մինան ապրում է Գյումրիում'],
  ['Tibetan', 'མི་ནཱ་ལྷ་ས་ལ་བསྡད་ཡོད'],
  ['Thai', 'มีนาอยู่เชียงใหม่'],
])('cannot compare %s with English', (_, statement) => {
  expect(strengthOf(statement, 'I live in Madurai these days')).toBe('hinted');
});

it.each([
  ['I see the dentist tomorrow', 'Mina has a dentist appointment on 2026-01-06'],
  ['my exam is next week', 'Mina sits an exam on Tuesday, 13 January 2026'],
  ['Übermorgen ist mein Umzug', 'Umzug von Mina ist am Mittwoch, den 7. Januar 2026'],
  ['завтра у меня экзамен', 'Мина сдаёт экзамен 6 января 2026'],
  ['the rent is due in May', 'Mina pays her rent in May 2026'],
])('lets a model say which day it is: "%s"', (source, statement) => {
  expect(strengthOf(statement, source)).toBe('said');
});

it('counts a date that the source says', () => {
  expect(strengthOf('Mina is away on 2026-01-06', '2026-01-06 does not suit me')).toBe('said');
  expect(strengthOf('Mina has an appointment on 2026-01-06', 'I like cheese')).toBe('absent');
});

it.each([
  ['quoted', 'look at this:\n```\nconst user = "root"; // the password is hunter2\n```'],
  ['quoted', '```the password is hunter2```'],
  ['said', 'the password is hunter2 ```const x = 1```'],
  ['said', 'the password is hunter2, not ```'],
])('takes a block of code for a quotation: %s, %s', (strength, source) => {
  expect(strengthOf('The password is hunter2', source)).toBe(strength);
});

it.each([
  ['Ich wohne seit drei Jahren bei meiner Schwester', 'Mina lives with her sister'],
  ['Je travaille comme cuisinière dans une école qui est à Lyon', 'Mina works as a cook'],
  ['Trabajo como enfermera en un hospital', 'Mina is a nurse and works in the clinic'],
  ['I live with my sister these days', 'Mina wohnt zurzeit bei ihrer Schwester und ist dort glücklich'],
])('cannot compare "%s" with its translation', (source, statement) => {
  expect(strengthOf(statement, source)).toBe('hinted');
});

it.each(['nice', 'good morning to you all', 'lol', 'Ghent'])('compares English with a short message: %s', (source) => {
  expect(strengthOf('Mina lives with her sister', source)).toBe('absent');
});
