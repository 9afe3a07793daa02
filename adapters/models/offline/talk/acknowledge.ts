import { trimEndOf } from '../../../../src/adapter-kit.ts';
import { type Finding, findingsIn, introducedName } from '../findings/findings.ts';
import { toSecondPerson } from '../text/person.ts';
import { capital, shorten } from '../text/sentences.ts';
import { pick } from '../text/words.ts';
import type { Voice } from '../voice/voice.ts';
import { english } from '../voice/voice-english.ts';
import { withStop } from './telling.ts';
import type { View } from './view.ts';

const MAX_FINDINGS = 2;
const MAX_ECHO = 160;

/** Repeats what was understood of a statement; null if no pattern matched. */
export function acknowledge(text: string, { asker, name, clock }: View, voice: Voice): string | null {
  const introduced = introducedName(text);
  const findings = findingsIn(text, { label: asker, name: introduced ?? name }, clock);
  const welcome = introduced === null ? [] : [voice.welcome(introduced)];
  const rest = findings.filter(({ kind }) => kind !== 'identity').slice(0, MAX_FINDINGS);
  const [first, ...others] = rest;
  if (first === undefined) return welcome[0] ?? null;
  const echoes = others.map((finding) => withStop(capital(echo(finding, voice))));
  return [...welcome, withStop(pick(templates(first, voice), text)(echo(first, voice))), ...echoes].join(' ');
}

function templates({ kind }: Finding, voice: Voice): Voice['noted'] {
  if (kind === 'decision') return voice.decided;
  if (kind === 'todo') return voice.reminded;
  return kind === 'instruction' ? voice.promised : voice.noted;
}

/** The statement in the second person. For languages other than English, the sentence that was made of it. */
function echo({ clause, text, kind }: Finding, voice: Voice): string {
  if (voice !== english || /\p{Script=Han}/u.test(clause)) return text.replace(/[.。]$/u, '');
  const bare = clause.replace(/^(?:and|so|also|well|oh|but),? /i, '').replace(/^.*\bremind me (?:to )?/i, '');
  const said = kind === 'instruction' ? bare.replace(/^from now on,? /i, '') : toSecondPerson(bare);
  return shorten(lower(trimEndOf(said, '.!?')), MAX_ECHO);
}

/** Lower-cases a capital at the start of a sentence, but not that of a name. */
function lower(text: string): string {
  return /^(?:You|Your|The|Our|We|It|A|An|My|This|That|There|Always|Never|Please|Answer|Ask|From|In|On|At|Don)\b/.test(
    text,
  )
    ? `${text.charAt(0).toLowerCase()}${text.slice(1)}`
    : text;
}
