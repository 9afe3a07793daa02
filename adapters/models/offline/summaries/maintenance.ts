import type { ModelRequest, ToolSpec } from '../../../../src/adapter-kit.ts';
import type { Answer } from '../answer.ts';
import { displayName, type Finding, findingsIn, introducedName, notedName } from '../findings/findings.ts';
import { countText } from '../text/count.ts';
import { overlap } from '../text/words.ts';
import { fieldsFor } from '../tool-fields.ts';
import { condense, type Names, summarise } from './summarise.ts';
import { type Form, formOf } from './summary-form.ts';
import { parseTranscript, type Transcript, withoutTask } from './transcript.ts';

/** Share of the source's tokens; a rejected summary is rewritten shorter. */
const SUMMARY_SHARE = 0.5;
const CONDENSED_SHARE = 0.6;
const STRICT_SHARE = 0.25;
const MAX_MEMORIES = 10;
const TOKENS_PER_WORD = 1.4;

/** Summarises, extracts or condenses: the background work of a conversation. */
export function answerMaintenance(request: ModelRequest): Answer {
  if (request.messages.some((message) => message.role === 'tool')) return { text: 'Done.', calls: [] };
  const text = textOf(request);
  const firstShare = request.purpose === 'condense' ? CONDENSED_SHARE : SUMMARY_SHARE;
  const share = Math.min(
    isSecondTry(request) ? STRICT_SHARE : firstShare,
    longestTokens(request) / Math.max(1, countText(text)),
  );
  const form = formOf(request);
  if (request.purpose === 'condense')
    return { text: condenseAll(text, { share: share * form.share, form }), calls: [] };
  const transcript = parseTranscript(text);
  const names = namesIn(transcript);
  const memories = findMemories(transcript, names);
  const summary =
    request.purpose === 'extract'
      ? null
      : form.write(summarise(transcript.lines, { names, known: transcript.known, share: share * form.share }));
  if (request.tools.length > 0) return withCalls(request.tools, { summary, memories });
  if (request.json || request.purpose === 'extract')
    return { text: JSON.stringify({ ...(summary === null ? {} : { summary }), memories }), calls: [] };
  return { text: summary ?? '', calls: [] };
}

function withCalls(
  tools: readonly ToolSpec[],
  found: { summary: string | null; memories: readonly FoundMemory[] },
): Answer {
  const summaryTool = tools.find(({ name }) => name === 'summary_save');
  const memoryTool = tools.find(({ name }) => name === 'memory_save');
  const calls = [
    ...(memoryTool === undefined
      ? []
      : found.memories.map((memory) => ({
          tool: memoryTool.name,
          input: fieldsFor(memoryTool, { ...memory, subject: memory.about }),
        }))),
    ...(summaryTool === undefined || found.summary === null
      ? []
      : [{ tool: summaryTool.name, input: fieldsFor(summaryTool, { summary: found.summary, text: found.summary }) }]),
  ];
  return { text: calls.length === 0 ? 'NOTHING' : '', calls };
}

type FoundMemory = Pick<Finding, 'kind' | 'text' | 'about' | 'importance'> & { readonly sources: readonly number[] };

/** People's statements, most important first, each with its lines. */
function findMemories({ lines, known }: Transcript, names: Names): readonly FoundMemory[] {
  const found = new Map<string, FoundMemory>();
  for (const line of lines.filter(({ byPerson }) => byPerson)) {
    const speaker = { label: line.author, name: names.get(line.author) ?? line.author };
    for (const { kind, text, about, importance } of findingsIn(line.text, speaker, line.saidOn)) {
      const sources = [...(found.get(text)?.sources ?? []), line.seq];
      if (!isKnown(text, known)) found.set(text, { kind, text, about, importance, sources: [...new Set(sources)] });
    }
  }
  return [...found.values()].toSorted((a, b) => b.importance - a.importance).slice(0, MAX_MEMORIES);
}

function isKnown(text: string, known: string): boolean {
  return known
    .split('\n')
    .some((line) => overlap(text, line) === 1 && overlap(line.replace(/^- (?:\[[^\]]*\] ?)?/, ''), text) >= 0.8);
}

/** How people call themselves, in these lines or in known facts. */
function namesIn({ lines, known }: Transcript): Names {
  const authors = new Set(lines.filter(({ byPerson }) => byPerson).map(({ author }) => author));
  const names = new Map(
    [...authors].map((author) => [author, notedName(author, known.split('\n')) ?? displayName(author)]),
  );
  for (const { author, text, byPerson } of lines) {
    const name = byPerson ? introducedName(text) : null;
    if (name !== null) names.set(author, name);
  }
  return names;
}

function condenseAll(text: string, { share, form }: { readonly share: number; readonly form: Form }): string {
  const lines = withoutTask(text)
    .split('\n')
    .filter((line) => !/^<\/?[\w-]+>$/.test(line.trim()));
  const bodies = lines
    .filter((line) => !form.isHeading(line))
    .map((line) => line.replace(/^\[[^\]]*\]\s?/, '').trim())
    .filter((line) => line !== '' && !(line.endsWith(':') && /\b(?:data|summaries|transcript)\b/i.test(line)));
  return form.write(condense(bodies, share), lines);
}

/** What the prompt allows, and what the answer has room for. */
function longestTokens({ system, maxOutputTokens }: ModelRequest): number {
  const words = system.map(({ text }) => /about (\d{1,6}) words/u.exec(text)?.[1]).find((found) => found !== undefined);
  return Math.min(
    maxOutputTokens * 0.9,
    words === undefined ? Number.POSITIVE_INFINITY : Number(words) * TOKENS_PER_WORD,
  );
}

function isSecondTry({ system }: ModelRequest): boolean {
  return system.some(({ text }) => /could not be used|write it (?:much )?shorter/i.test(text));
}

function textOf({ messages }: ModelRequest): string {
  return messages
    .flatMap((message) => (message.role === 'user' ? message.content : []))
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .join('\n');
}
