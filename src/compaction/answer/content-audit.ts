import { commandsReader } from '../../memory/admission/orders.ts';
import { containment } from '../../memory/statements/fingerprint.ts';
import { englishShare } from '../../search/words/stop-words.ts';
import { wordsOf } from '../../search/words/words.ts';
import { visibleText } from '../../util/text/foreign-text.ts';
import { normalForm } from '../../util/text/normal-form.ts';
import { MEMORY_TOOL, SUMMARY_TOOL } from './answer.ts';

/** A line that imitates one of ours: a label of a message, a summary, the system or the bot. */
const LABEL = /^[^\S\n]*(?:\[ ?(?:#|system\b|summary\b|recalled\b|current time\b)|<\/?[a-z][\w-]*>|\[[^\]|\n]*\|)/imu;
/**
 * Minimum share of a summary's words that its source must contain. Of 128 model summaries of LoCoMo sessions, the
 * lowest share was 0.40; of 115 pairs with a session of another conversation, the highest was 0.32 and the median below
 * 0.16.
 */
const MIN_ON_TOPIC = 0.2;

/** Many models answer an English prompt in English, also when asked again. */
type Attempt = 'first' | 'last';

/** Of summaries, the lowest share was 0.13; of conversations in 61 other languages, the highest was 0.01. */
const MIN_ENGLISH = 0.1;
const MAX_FOREIGN = 0.03;
/** Enough to know the language of a source. */
const READ_CHARACTERS = 20_000;

/** Beginnings of texts about the task in place of the source: "Sure, what would you like me to do?" */
const EXCUSE =
  /\b(?:i|me|my|you|your|summari[sz]\w*|(?:no|any) (?:\w+ )?(?:conversations?|messages?|texts?|transcripts?|summary|content))\b/iu;
const EXCUSE_CHARACTERS = 200;

/** Whether the words can't show what the text is about: it is in English, and its source in another language. */
function isTranslated(text: string, source: string): boolean {
  if (EXCUSE.test(text.slice(0, EXCUSE_CHARACTERS))) return false;
  return (
    englishShare(wordsOf(text)) >= MIN_ENGLISH && englishShare(wordsOf(source.slice(0, READ_CHARACTERS))) < MAX_FOREIGN
  );
}

/**
 * Why the text is not a summary of its source, in words the model can act on: it imitates a label, addresses its
 * reader, or is about something else. Null if it is one.
 */
export function contentFault(text: string, source: string, attempt: Attempt = 'first'): string | null {
  if (LABEL.test(normalForm(visibleText(text), 'NFKC')))
    return 'a line of it looked like a label: write plain sentences';
  const tool = [SUMMARY_TOOL.name, MEMORY_TOOL.name].find((name) => text.includes(name) && !source.includes(name));
  if (tool !== undefined) return `it named the tool ${tool} instead of what was said`;
  if (commandsReader(text))
    return 'it gave instructions to its reader: report who asked for what, as something that was said';
  if (containment(text, source) < MIN_ON_TOPIC && !(attempt === 'last' && isTranslated(text, source))) {
    return 'it shared almost no words with the source: name who said what, in the language of the source';
  }
  return null;
}
