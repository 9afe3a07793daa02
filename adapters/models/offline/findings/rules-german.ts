import { between } from '../../../../src/adapter-kit.ts';
import { createRule, type Rule } from './rules.ts';

const GERN = '(?:wirklich |sehr |auch |lieber |am liebsten |gern(?:e)? )*';

export const rulesGerman: readonly Rule[] = [
  createRule(
    /\b(?:[Ii]ch hei(?:ß|ss)e|[Mm]ein Name ist) (\p{L}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?)/u,
    { kind: 'identity', importance: 0.9 },
    (match, { calling }) => `${calling.replace(/'s?$/, '')} heißt ${match[1]}`,
  ),
  createRule(
    /^(?:bitte )?((?:immer|niemals|nie|ab (?:jetzt|sofort)|von nun an) .+|(?:antworte|schreib|sprich|frag)e? (?:mir )?(?:bitte )?(?:immer|nie|stets|ab jetzt) .+)$/iu,
    { kind: 'instruction', importance: 0.9 },
    (match) => match[1] ?? null,
  ),
  createRule(/\bwir haben (?:uns )?(.+)/i, { kind: 'decision', importance: 0.85, about: 'nobody' }, (match) =>
    germanDecision(match[1] ?? ''),
  ),
  createRule(
    /\berinnere mich (?:bitte )?(?:daran,? |an )(.+)/i,
    { kind: 'todo', importance: 0.75 },
    (match, { name }) => `${name} möchte erinnert werden: ${match[1]}`,
  ),
  createRule(
    /\bich muss (?!sagen|zugeben|los)(.+)/i,
    { kind: 'todo', importance: 0.65 },
    (match, { name }) => `${name} muss ${match[1]}`,
  ),
  createRule(
    /\bich (?:mag|trinke|esse) (?:überhaupt )?kein(?:e|en)? (.+)/i,
    { kind: 'preference', importance: 0.7 },
    (match, { name }) => `${name} mag kein ${match[1]}`,
  ),
  createRule(
    new RegExp(
      `\\bich ${GERN}(mag|liebe|hasse|bevorzuge|trinke|esse|spiele|lese) ${GERN}(?!das\\b|es\\b|dich\\b|heute\\b)(.+)`,
      'iu',
    ),
    { kind: 'preference', importance: 0.7 },
    (match, { name }) => germanPreference(match, name),
  ),
  createRule(
    /\bmein(?:e)? Lieblings(\p{L}+) (?:ist|sind) (.+)/iu,
    { kind: 'preference', importance: 0.7 },
    (match, { name }) => `Lieblings${match[1]} von ${name}: ${match[2]}`,
  ),
  createRule(
    /\bich (?:wohne|lebe) in (.+)/i,
    { kind: 'fact', importance: 0.8 },
    (match, { name }) => `${name} wohnt in ${match[1]}`,
  ),
  createRule(
    /\bich komme aus (.+)/i,
    { kind: 'fact', importance: 0.75 },
    (match, { name }) => `${name} kommt aus ${match[1]}`,
  ),
  createRule(
    /\bich arbeite (als|bei|für|in) (.+)/i,
    { kind: 'fact', importance: 0.8 },
    (match, { name }) => `${name} arbeitet ${match[1]?.toLowerCase()} ${match[2]}`,
  ),
  createRule(/\bich habe am (.+)/i, { kind: 'fact', importance: 0.85 }, (match, { name }) => {
    const day = between(match[1] ?? '', /^/, / Geburtstag/i);
    return day === undefined ? null : `${name} hat am ${day} Geburtstag`;
  }),
  createRule(
    /\bmein Geburtstag ist (?:am )?(.+)/i,
    { kind: 'fact', importance: 0.85 },
    (match, { name }) => `${name} hat am ${match[1]} Geburtstag`,
  ),
  createRule(
    /\bich bin allergisch gegen (.+)/i,
    { kind: 'fact', importance: 0.95 },
    (match, { name }) => `${name} ist allergisch gegen ${match[1]}`,
  ),
  createRule(
    /\b[Ii]ch bin ([Vv]egetarier(?:in)?|[Vv]eganer(?:in)?|\p{Lu}\p{L}+(?:in|er|ist|ent|eur|arzt))(?!\p{L})/u,
    { kind: 'fact', importance: 0.75 },
    (match, { name }) => `${name} ist ${match[1]}`,
  ),
];

/** "uns auf Dienstag geeinigt": the verb comes after what was decided. */
function germanDecision(said: string): string | null {
  const verb = /\b(beschlossen|entschieden|vereinbart|geeinigt)\b[,:]? ?/i.exec(said);
  if (verb === null) return null;
  const what = `${said.slice(0, verb.index)} ${said.slice(verb.index + verb[0].length)}`.trim();
  return `Es wurde ${verb[1]?.toLowerCase()}: ${what}`;
}

function germanPreference(match: RegExpExecArray, name: string): string | null {
  const verb = (match[1] ?? '').toLowerCase();
  const likes = /\b(?:gern|gerne|lieber|am liebsten)\b/i.exec(match[0])?.[0].toLowerCase();
  if (/^(?:trinke|esse|spiele|lese)$/.test(verb)) {
    const third = { trinke: 'trinkt', esse: 'isst', spiele: 'spielt', lese: 'liest' }[verb];
    return likes === undefined || third === undefined ? null : `${name} ${third} ${likes} ${match[2]}`;
  }
  const third = verb === 'mag' ? 'mag' : verb.replace(/e$/, 't');
  return `${name} ${third} ${match[2]}`;
}
