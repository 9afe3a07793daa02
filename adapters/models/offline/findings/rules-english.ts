import { trimEndOf } from '../../../../src/adapter-kit.ts';
import { namesDate, namesPastDate } from '../text/dates.ts';
import { inflect, toThirdPerson } from '../text/person.ts';
import { createRule, type Rule } from './rules.ts';

const ADVERBS = '(?:really |also |just |still |absolutely |actually |currently |now |always |usually |only |totally )*';
const not = "(?:do not|don['’]t|do n['’]t)";
const relatives =
  'sister|brother|wife|husband|partner|girlfriend|boyfriend|daughter|son|mother|father|mum|mom|dad|boss|manager|dog|cat|friend|colleague|team|company|landlord|neighbour|neighbor|flatmate|doctor|dentist';

/** In the order in which they are tried; the first match for a clause wins. */
export const rulesEnglish: readonly Rule[] = [
  createRule(
    /\b[Mm]y name(?:['’]s| is) (\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)?|\p{Ll}[\p{L}'’-]+)/u,
    { kind: 'identity', importance: 0.9 },
    (match, { calling }) => (isName(match[1]) ? `${calling} name is ${match[1]}` : null),
  ),
  createRule(
    /\bcall me (\p{Lu}[\p{L}'’-]+)/u,
    { kind: 'identity', importance: 0.9 },
    (match, { calling }) => `${calling} name is ${match[1]}`,
  ),
  createRule(
    /^(?:(?:hi|hello|hey)[,!.]? )?I(?:['’]m| am) (\p{Lu}[\p{L}'’-]+)[.!]?$/u,
    { kind: 'identity', importance: 0.8 },
    (match, { calling }) => (isPeople(match[1]) ? null : `${calling} name is ${match[1]}`),
  ),

  // Standing wishes come before the statements inside them.
  createRule(
    /^(?:please,? )?(from now on,? .+)$/i,
    { kind: 'instruction', importance: 0.9 },
    (match) => match[1] ?? null,
  ),
  createRule(
    /^(?:please,? )?((?:always|never|don['’]t ever|do not ever) (?!mind\b|happy\b|fun\b|a \b|the \b|again\b)\p{Ll}+ .+)$/iu,
    { kind: 'instruction', importance: 0.9 },
    (match) => match[1] ?? null,
  ),
  createRule(
    /^please (?:remember to |make sure (?:to|that you) )?((?:answer|reply|respond|write|speak|talk|keep|use|avoid|stop|don['’]t|do not|ask) .+)/iu,
    { kind: 'instruction', importance: 0.85 },
    (match) => (isStanding(match[1] ?? '') ? (match[1] ?? null) : null),
  ),

  createRule(
    /\b(?:we|the team|everyone)(?:['’]ve| have| has)? (?:just |finally |now )?(decided|agreed|settled|chose|voted) (.+)/i,
    { kind: 'decision', importance: 0.85, about: 'nobody' },
    (match) => `It was ${match[1]?.replace(/^chose$/i, 'chosen')?.toLowerCase()} ${match[2]}`,
  ),
  createRule(
    /\b(?:we['’]re|we are|we['’]ll|we will|let['’]s) (?:going to |gonna )?(?:go|going) with (.+)/i,
    { kind: 'decision', importance: 0.8, about: 'nobody' },
    (match) => `It was decided to go with ${match[1]}`,
  ),
  createRule(
    /^(?:the )?decision(?: is|:) (.+)/i,
    { kind: 'decision', importance: 0.85, about: 'nobody' },
    (match) => `The decision: ${match[1]}`,
  ),

  createRule(
    /\bremind me (?:to |that I (?:have|need) to )(.+)/i,
    { kind: 'todo', importance: 0.75 },
    (match, { name }) => `${name} wants to be reminded to ${selfless(trimEndOf(match[1] ?? '', '?'), name)}`,
  ),
  createRule(
    /^(?:todo|to do|action item|task):? (.+)/i,
    { kind: 'todo', importance: 0.7, about: 'nobody' },
    (match) => `To do: ${match[1]}`,
  ),
  createRule(
    new RegExp(
      `\\bI ${ADVERBS}(need|have|ought|must|should)(?: to)? (?!a |an |the |two |three |no |some |been |never |to be honest|say|admit|go now|run\\b)(\\p{Ll}.+)`,
      'iu',
    ),
    { kind: 'todo', importance: 0.65 },
    (match, { name }) =>
      /^(?:have|need)$/i.test(match[1] ?? '') && !/\bto \p{Ll}/u.test(match[0])
        ? null
        : `${name} needs to ${selfless(match[2], name)}`,
  ),
  createRule(
    /\bI(?:['’]ll| will| promise to|['’]m going to(?! (?:an?|the|my|our)\b| \p{Lu})| am going to(?! (?:an?|the|my|our)\b| \p{Lu})) (?!(?:be|see|think|try|say|go now|let you|keep (?:you|ya)|remember|forget|miss|look|never|always|definitely|start thinking)\b)(\p{Ll}.+)/u,
    { kind: 'todo', importance: 0.6 },
    (match, { name }) => `${name} will ${selfless(match[1], name)}`,
  ),

  createRule(
    /\bmy fav(?:ou?rite|e) ([\p{L} ]{2,30}?) (is|are) (.+)/iu,
    { kind: 'preference', importance: 0.7 },
    (match, { own }) => `${own} favourite ${match[1]} ${match[2]?.toLowerCase()} ${match[3]}`,
  ),
  createRule(
    new RegExp(`\\bI ${ADVERBS}(?:can['’]t|cannot|can not) stand (.+)`, 'i'),
    { kind: 'preference', importance: 0.7 },
    (match, { name }) => `${name} cannot stand ${selfless(match[1], name)}`,
  ),
  createRule(
    new RegExp(`\\bI ${ADVERBS}${not} ${ADVERBS}(like|enjoy|want|eat|drink|care for|trust) (.+)`, 'i'),
    { kind: 'preference', importance: 0.7 },
    (match, { name }) => `${name} does not ${match[1]?.toLowerCase()} ${selfless(match[2], name)}`,
  ),
  createRule(
    new RegExp(`\\bI ${ADVERBS}(?:['’]d|would) (?:rather|prefer to) (?!not say)(.+)`, 'i'),
    { kind: 'preference', importance: 0.6 },
    (match, { name }) => `${name} would rather ${selfless(match[1], name)}`,
  ),
  createRule(
    new RegExp(
      `\\bI ${ADVERBS}(prefer|like|love|enjoy|adore|hate|dislike|detest) (?!(?:it|that|this|these|those|how|when|what|you|your|being|all|to think|the (?:way|idea|fact))\\b)(.+)`,
      'i',
    ),
    { kind: 'preference', importance: 0.7 },
    (match, { name }) => `${name} ${inflect((match[1] ?? '').toLowerCase())} ${selfless(match[2], name)}`,
  ),

  createRule(
    /\bI(?:['’]m| am) (?:severely |badly |slightly |also )?allergic to (.+)/i,
    { kind: 'fact', importance: 0.95 },
    (match, { name }) => `${name} is allergic to ${match[1]}`,
  ),
  createRule(
    /\b(?:my birthday(?:['’]s| is)(?: on)?|I was born on) (.+)/i,
    { kind: 'fact', importance: 0.85 },
    (match, { own }) => `${own} birthday is ${match[1]}`,
  ),
  createRule(
    new RegExp(`\\bI(?:['’]m| am)? ?${ADVERBS}(?:live|living|based|reside) in (.+)`, 'i'),
    { kind: 'fact', importance: 0.8 },
    (match, { name }) => `${name} lives in ${match[1]}`,
  ),
  createRule(
    new RegExp(`\\bI(?:['’]ve| have)? ?${ADVERBS}moved to (.+)`, 'i'),
    { kind: 'fact', importance: 0.8 },
    (match, { name }) => `${name} moved to ${match[1]}`,
  ),
  createRule(
    /\bI(?:['’]m| am| come) (?:originally )?from (\p{Lu}.+)/u,
    { kind: 'fact', importance: 0.75 },
    (match, { name }) => `${name} is from ${match[1]}`,
  ),
  createRule(
    new RegExp(`\\bI(?:['’]m| am)? ?${ADVERBS}work(?:ing)? (as|at|for|in|with) (.+)`, 'i'),
    { kind: 'fact', importance: 0.8 },
    (match, { name }) => `${name} works ${match[1]?.toLowerCase()} ${selfless(match[2], name)}`,
  ),
  createRule(
    /\bI(?:['’]m| am) (\d{1,3})(?: years old)?(?=[.!,]|$)/i,
    { kind: 'fact', importance: 0.7 },
    (match, { name }) => `${name} is ${match[1]} years old`,
  ),
  createRule(
    /\bI(?:['’]m| am) (an? (?!bit\b|little\b|lot\b|few\b|fan of\b|big\b)[\p{L}].+)/iu,
    { kind: 'fact', importance: 0.75 },
    (match, { name }) => `${name} is ${selfless(match[1], name)}`,
  ),
  createRule(
    /\bI(?:['’]m| am) (vegan|vegetarian|pregnant|married|single|divorced|engaged|left-handed|colou?r-?blind|diabetic|retired)\b(.*)/i,
    { kind: 'fact', importance: 0.85 },
    (match, { name }) => `${name} is ${match[1]?.toLowerCase()}${selfless(match[2], name)}`,
  ),
  createRule(
    new RegExp(
      `\\bmy (${relatives})(?:['’]s name)?(?:['’]s| is| are) (?:called |named )?(\\p{Lu}[\\p{L}'’-]+)(?=[.,!]|$| and)`,
      'u',
    ),
    { kind: 'fact', importance: 0.8 },
    (match, { own }) => `${own} ${match[1]?.toLowerCase()} is called ${match[2]}`,
  ),
  createRule(
    /\bI (?:also )?(have|own|drive|speak|study|play|teach|run|use) ((?:an?|one|two|three|four|five|six|my own) .+|\p{Lu}.+|(?:the )?(?:piano|guitar|violin|chess|football|tennis|drums|cello|clarinet)\b.*)/u,
    { kind: 'fact', importance: 0.65 },
    (match, { name }) =>
      passing.test(match[2] ?? '')
        ? null
        : `${name} ${inflect((match[1] ?? '').toLowerCase())} ${selfless(match[2], name)}`,
  ),
  createRule(
    /\bmy ([\p{L}-]+(?: [\p{L}-]+){0,2}?) (is|are) (?!so\b|very\b|really\b|too\b|ok|fine\b|great\b|good\b|bad\b|awesome|amazing|such\b|just\b|all\b|not\b|about\b|important|the best)(.+)/iu,
    { kind: 'fact', importance: 0.6 },
    (match, { name, own }) =>
      passing.test(match[0]) ? null : `${own} ${match[1]} ${match[2]?.toLowerCase()} ${selfless(match[3], name)}`,
  ),

  createRule(
    /\b(?:I|we)(?:['’]m|['’]re| am| are)? ?(?:also |now )?(?:have|going|flying|travelling|traveling|leaving|getting|meeting|visiting|see|seeing|getting married)\b.+/i,
    { kind: 'event', importance: 0.65 },
    (match, { name }) =>
      namesDate(match[0]) ? toThirdPerson(match[0].replace(/^we\b/i, `${name} and others`), name) : null,
  ),
  createRule(
    /^(?:(?:so|and|also|well|oh|hey|yesterday|this morning|last \p{L}+|guess what|btw)[,!:]? )*I (?:just |recently |finally |also )?(?:went|visited|met|bought|started|finished|joined|signed|passed|got|ran|painted|adopted|attended|took|saw|moved|had|did|won|lost|made|gave|quit) .+/iu,
    { kind: 'event', importance: 0.55 },
    (match, { name }) => (namesPastDate(match[0]) ? toThirdPerson(match[0], name) : null),
  ),
  createRule(
    /^(?:and |so |also |fyi:? |btw,? )?((?:the|our) [\p{L}\p{N}'’ -]{2,50}? (?:is|are|was|will be|moved|has been moved|starts|opens|closes|takes place|happens)\b.+)/iu,
    { kind: 'event', importance: 0.7, about: 'nobody' },
    (match) => (namesDate(match[1] ?? '') ? (match[1] ?? null) : null),
  ),
  createRule(
    /^(?:and |so |also |fyi:? |btw,? )?((?:the|our) [\p{L}\p{N}'’ -]{2,50}? (?:is|are|costs?|runs|uses|needs|lives|has|have) .+)/iu,
    { kind: 'fact', importance: 0.6, about: 'nobody' },
    (match) => (isSolid(match[1] ?? '') ? (match[1] ?? null) : null),
  ),
  createRule(
    /^(\p{Lu}[\p{L}'’-]+) (?:really |also )?((?:likes|loves|prefers|hates|enjoys|dislikes) .+)/u,
    { kind: 'preference', importance: 0.6, about: 'first-group' },
    (match) => (isNoPerson(match[1]) ? null : `${match[1]} ${match[2]}`),
  ),
  createRule(
    /^(\p{Lu}[\p{L}'’-]+) (?:also |now |currently )?((?:lives|works|is allergic|is from|moved to|is our|is called|speaks|owns|plays|studies) .+)/u,
    { kind: 'fact', importance: 0.6, about: 'first-group' },
    (match) => (isNoPerson(match[1]) ? null : `${match[1]} ${match[2]}`),
  ),
];

const passing =
  /\b(?:question|idea|problem|feeling|headache|minute|moment|look|point|guess|bad|good time|tired|hungry|chat|talk|favou?r|doubt|chance|thought)\b/i;

function selfless(text: string | undefined, name: string): string {
  return toThirdPerson(text ?? '', name);
}

function isName(word: string | undefined): boolean {
  return word !== undefined && /^\p{L}/u.test(word) && !/^(?:not|a|the|what)\b/i.test(word);
}

/** "I'm German" and "I'm Batman" look alike, but a nationality is not a name. */
function isPeople(word: string | undefined): boolean {
  return (
    /(?:ese|ish|ian|ean|can|man|ch|i)$/.test(word ?? '') &&
    /^(?:Chin|Japan|Engl|Brit|Ir|Ital|Ind|Kor|Mexi|Ameri|Ger|Fren|Dut|Span|Pol|Swed|Dan|Finn|Austri|Austral|Canad|Russ|Ukrain|Turk|Iraq|Pakistan|Brazil|Egypt)/.test(
      word ?? '',
    )
  );
}

/** A pronoun, or an activity at the start of a sentence. */
function isNoPerson(word: string | undefined): boolean {
  return /ing$|^(?:I|It|He|She|They|We|You|This|That|There|Here|What|Who|Which|Everyone|Everybody|Nobody|Someone|One)$/.test(
    word ?? '',
  );
}

/** Contains a number, a place or a name: something that can be asked for. */
function isSolid(text: string): boolean {
  return /\d|https?:|\/\w|\s\p{Lu}\p{L}/u.test(text) || holdsQuote(text);
}

function holdsQuote(text: string): boolean {
  const open = text.search(/[“"'‘]/u);
  return open !== -1 && Math.max(...['”', '"', "'", '’'].map((close) => text.lastIndexOf(close))) > open + 1;
}

/** How the bot should answer from now on, not only this time. */
function isStanding(wish: string): boolean {
  return /\b(?:always|every|each|in (?:english|german|french|spanish|italian|chinese|japanese)|answers?|replies|short|brief|emojis?|before you .)/iu.test(
    wish,
  );
}
