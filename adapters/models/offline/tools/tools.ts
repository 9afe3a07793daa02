import { between, type ToolSpec, trimEndOf } from '../../../../src/adapter-kit.ts';
import type { PlannedCall } from '../answer.ts';
import { findingsIn } from '../findings/findings.ts';
import { withStop } from '../talk/telling.ts';
import type { View } from '../talk/view.ts';
import { toThirdPerson } from '../text/person.ts';
import { capital, isQuestion } from '../text/sentences.ts';
import { stem } from '../text/words.ts';
import { fieldsFor } from '../tool-fields.ts';
import { inputFrom } from './tool-input.ts';

/** Requests for the built-in tools in plain words. The first group is the tool's subject. */
type Asked = RegExp | ((message: string) => string | undefined);

const BUILT_IN: Readonly<Record<string, readonly Asked[]>> = {
  transcript_search: [
    /\b(?:search|look|check)(?: through| in)? (?:the |our |my )?(?:transcript|history|chat|conversation|messages|log)s?(?: for| about)? (.+)/i,
    (message) =>
      between(message, /\bsearch (?:for )?/i, / in (?:the |our )?(?:transcript|history|chat|conversation|messages)/i),
  ],
  memory_recall: [
    /\b(?:search|check|look (?:in|through)) (?:your |the )?memor(?:y|ies)(?: for| about)? (.+)/i,
    /\brecall (?:everything |what you know |anything )?(?:about |of )?(.+)/i,
  ],
  memory_save: [
    /^(?:please )?(?:remember|note|save|keep in mind|don['’]t forget|merk dir|merke dir|记住)(?:[:,] ?| that | this:? | down that | down:? |, dass | dass |[:：，]?)(?!me\b|to\b|when\b|what\b|how\b)(.+)/iu,
  ],
  summary_open: [/\b(?:open|show|expand) (?:the )?summary (\S+)/i],
  message_open: [/\b(?:open|show) (?:the )?message #?(\d+)/i],
  blob_read: [/\b(?:read|open|show) (?:the )?(?:blob|stored result) (\S+)/i],
};

/** The tool that the newest message asks for, with its input; null if it asks for none. */
export function plannedCall(view: View, tools: readonly ToolSpec[]): PlannedCall | null {
  const message = view.newest;
  for (const tool of tools) {
    for (const pattern of BUILT_IN[tool.name] ?? []) {
      const about = typeof pattern === 'function' ? pattern(message) : pattern.exec(message)?.[1];
      if (about === undefined) continue;
      return tool.name === 'memory_save' ? callToSave(tool, about, view) : callAbout(tool, about, message);
    }
  }
  const custom = tools.filter(({ name }) => BUILT_IN[name] === undefined).find((tool) => asksFor(message, tool));
  const named = custom ?? tools.find(({ name }) => message.toLowerCase().includes(name.toLowerCase()));
  return named === undefined ? null : { tool: named.name, input: inputFrom(named, message) };
}

/** "Remember that my locker is 42" is saved as a statement about the speaker. */
function callToSave(tool: ToolSpec, about: string, { asker, name, clock }: View): PlannedCall {
  const text = trimEndOf(about, '.!');
  const [found] = findingsIn(text, { label: asker, name }, clock);
  const fallback = { kind: 'fact', text: withStop(capital(toThirdPerson(text, name || 'The user'))) };
  const { kind, text: said } = found ?? fallback;
  const fields = { kind, text: said, about: asker, subject: asker, importance: 0.8, confidence: 0.9 };
  return { tool: tool.name, input: fieldsFor(tool, fields) };
}

/** A call with a known text; the other fields come from the message. */
export function callAbout(tool: ToolSpec, about: string, message: string): PlannedCall {
  const subject = trimEndOf(about, '?!.').replace(/^["“'‘]|["”'’]$/g, '');
  return { tool: tool.name, input: inputFrom(tool, `${numbersOnly(message, subject)} "${subject}"`) };
}

/** Numbers outside the subject may be limits; those inside belong to it. */
function numbersOnly(message: string, subject: string): string {
  return message.replace(subject, ' ').match(/\d+/g)?.join(' ') ?? '';
}

/** Words that many tools share identify none of them. */
const COMMON = new Set('get set list find read make do fetch tool run call show use create add new'.split(' '));

/** States something and asks for nothing. */
const TELLING = /^(?:the|an?|this|that|these|those|it|he|she|they|there|you|no|yes|some)\b|\b(?:is|are|was|were)\b/i;

/** A request that contains the words of the tool's name: "roll a d6" asks for `roll_dice`. */
function asksFor(message: string, { name }: ToolSpec): boolean {
  const text = message.toLowerCase();
  if (text.includes(name.toLowerCase())) return true;
  if (!isQuestion(message) && (TELLING.test(message) || !/^[a-z]/i.test(message))) return false;
  if (/\b(?:I|my|we|our)\b(?! (?:want|need|would like))/i.test(message)) return false;
  const said = new Set((text.match(/[\p{L}\d]+/gu) ?? []).map(stem));
  if (/\b\d*d\d+\b/.test(text)) said.add(stem('dice')).add(stem('die'));
  const words = name
    .toLowerCase()
    .split(/[_-]+|(?<=[a-z])(?=[A-Z])/)
    .filter((word) => !COMMON.has(word));
  const found = words.filter((word) => said.has(stem(word))).length;
  return found > 0 && found * 2 >= words.length;
}
