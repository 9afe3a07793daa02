import { z } from 'zod';
import type { JsonValue } from '../../../../src/adapter-kit.ts';
import { findAnswers } from '../talk/recall.ts';
import { tellMatches, withStop } from '../talk/telling.ts';
import { type Statement, type View, withoutWeekday } from '../talk/view.ts';
import { readLabel } from '../text/label.ts';
import { isQuestion, sentencesOf, shorten } from '../text/sentences.ts';
import { pick } from '../text/words.ts';
import type { Voice } from '../voice/voice.ts';

type Called = View['calls'][number];

const MAX_RESULT = 600;

/** The answer after tool calls: their results, or what a search found. */
export function answerFromTools(view: View, voice: Voice): string {
  return view.calls.map((called) => answerFrom(called, view, voice)).join(' ');
}

function answerFrom({ call, result }: Called, view: View, voice: Voice): string {
  if (result === null) return voice.toolFailed(call.tool, '…');
  if (result.isError) return voice.toolFailed(call.tool, withStop(shorten(result.text, MAX_RESULT)));
  switch (call.tool) {
    case 'transcript_search':
    case 'memory_recall':
      return answerFromSearch(call.tool, { text: result.text, view, voice });
    case 'memory_save': {
      const refusal = refusalIn(result.text);
      return refusal === null ? voice.saved(withStop(savedText(call.input))) : voice.notSaved(withStop(refusal));
    }
    default:
      return voice.toolGave(call.tool, withStop(shorten(legible(result.text), MAX_RESULT)));
  }
}

/** A search may find the question that started it, or the bot's own words; neither is an answer. */
function answerFromSearch(
  tool: 'transcript_search' | 'memory_recall',
  { text, view, voice }: { readonly text: string; readonly view: View; readonly voice: Voice },
): string {
  const found = foundIn(text, tool === 'memory_recall' ? 'memory' : 'message').filter(
    (statement) => !view.newest.includes(statement.text) && !isQuestion(statement.text),
  );
  const matches = findAnswers(view.newest, { ...view, statements: found });
  if (matches.length > 0) return tellMatches(matches, view, voice);
  if (!isQuestion(view.newest) && found.length > 0) {
    return tellMatches(
      found.slice(0, 3).map((statement) => ({ statement, score: 1 })),
      view,
      voice,
    );
  }
  const nothing = voice.nothingFound('all');
  return isAboutTalk(view.newest) ? nothing : `${nothing} ${pick(voice.unknown, view.newest)}`;
}

function isAboutTalk(question: string): boolean {
  return /\b(?:I|my|me|we|our|us|you|said|told|mention\w*|decid\w*|ich|mein\w*|wir|du)\b|[我你]/iu.test(question);
}

const recordSchema = z.looseObject({
  text: z.string().optional(),
  author: z.string().optional(),
  by: z.string().optional(),
  at: z.string().optional(),
  saidOn: z.string().optional(),
});

/** Statements in a result: labelled lines, lists of memories, or JSON with texts. */
function foundIn(text: string, source: 'memory' | 'message'): readonly Statement[] {
  const json = parseJson(text) ?? cutJson(text);
  const found = typeof json === 'object' && json !== null ? recordsIn(json) : text.split('\n').map(fromLine);
  return found
    .filter((statement) => statement.text.trim() !== '')
    .flatMap((statement) => sentencesOf(statement.text).map((sentence) => ({ ...statement, text: sentence })))
    .map((statement, order) => ({ ...statement, source, order }));
}

/** The complete objects of a JSON text that was cut to fit the window. */
function cutJson(text: string): JsonValue | undefined {
  if (!text.startsWith('{')) return undefined;
  return [...text.matchAll(/\{[^{}]*\}/g)].flatMap(([object]) => parseJson(object) ?? []);
}

type Found = Pick<Statement, 'text' | 'author' | 'when'>;

function fromLine(line: string): Found {
  const label = readLabel(line.replace(/^\W*(?=\[#)/, ''));
  if (label === null || label.text === '')
    return { text: line.replace(/^\s*[-*•] (?:\[[^\]]+\] )?/, '').replace(/^#\d+ ?/, ''), author: '', when: '' };
  return { text: label.text, author: label.author ?? '', when: withoutWeekday(label.when ?? '') };
}

function recordsIn(value: JsonValue): readonly Found[] {
  if (Array.isArray(value)) return value.flatMap(recordsIn);
  if (typeof value === 'string') return [fromLine(value)];
  if (typeof value !== 'object' || value === null) return [];
  const record = recordSchema.safeParse(value).data;
  if (record?.text !== undefined) {
    const line = fromLine(record.text);
    const author = record.author ?? record.by ?? line.author;
    // What the bot or a tool said is not knowledge.
    if (author === '<you>' || author === '<tool>') return [];
    const at = record.at?.slice(0, 16).replace('T', ' ');
    return [{ text: line.text, author, when: at ?? record.saidOn ?? line.when }];
  }
  return Object.values(value).flatMap((part) => (typeof part === 'object' ? recordsIn(part) : []));
}

const refusalSchema = z.looseObject({ saved: z.literal(false), reason: z.string() });

function refusalIn(text: string): string | null {
  return refusalSchema.safeParse(parseJson(text)).data?.reason ?? null;
}

function savedText(input: JsonValue): string {
  const parsed = z.looseObject({ text: z.string() }).safeParse(input);
  return parsed.success ? parsed.data.text : JSON.stringify(input);
}

/** A number or text as it is; an object as "name: value". */
function legible(text: string): string {
  const json = parseJson(text);
  return json === undefined ? text.trim() : spell(json);
}

function spell(value: JsonValue): string {
  if (Array.isArray(value)) return value.map(spell).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${spell(part)}`)
    .join(', ');
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return z.json().parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
