import { traceSentences } from '../../../src/inspection/summaries/trace.ts';
import { boostOf, focusOf } from '../../../src/memory/recall/focus.ts';
import { user } from '../../fixtures/context.ts';

/** Prints what small letters, ends of words and ends of sentences decide, which differ between languages. */

const focus = focusOf(user(1, 'When do we meet ILSE in Istanbul with Nokia:n people, or see „INGRID“?'));
const boost = boostOf(focus, { text: 'ilse, istanbul and ingrid are expected', kind: 'fact', subjectId: null });
const sentences = traceSentences('Is it tea; or coffee? It is tea; Ada knows.', [
  'Ada drinks tea',
  'Bob drinks coffee',
]);
process.stdout.write(JSON.stringify({ names: focus.names, boost, sentences }));
