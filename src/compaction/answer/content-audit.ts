import { commandsReader } from '../../memory/admission/orders.ts';
import { containment } from '../../memory/statements/fingerprint.ts';
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

/**
 * Why the text is not a summary of its source, in words the model can act on: it imitates a label, addresses its
 * reader, or is about something else. Null if it is one.
 */
export function contentFault(text: string, source: string): string | null {
  if (LABEL.test(normalForm(visibleText(text), 'NFKC')))
    return 'a line of it looked like a label: write plain sentences';
  const tool = [SUMMARY_TOOL.name, MEMORY_TOOL.name].find((name) => text.includes(name) && !source.includes(name));
  if (tool !== undefined) return `it named the tool ${tool} instead of what was said`;
  if (commandsReader(text))
    return 'it gave instructions to its reader: report who asked for what, as something that was said';
  if (containment(text, source) < MIN_ON_TOPIC) {
    return 'it shared almost no words with the source: name who said what, in the language of the source';
  }
  return null;
}
