import type { ToolCall } from '../../ports/model.ts';
import { type Answer, MEMORY_TOOL, SUMMARY_TOOL } from './answer.ts';
import { parseCandidate } from './candidate-shape.ts';
import { readText, readValues } from './read-answer.ts';

export interface Collected {
  /** The same object if the call added nothing new. */
  readonly answer: Answer;
  /** The result returned to the model for its call. */
  readonly receipt: string;
  readonly isTaken: boolean;
}

/** Adds the contents of a tool call. */
export function collectCall(answer: Answer, call: ToolCall): Collected {
  if (call.tool === SUMMARY_TOOL.name) return collectSummary(answer, call);
  if (call.tool !== MEMORY_TOOL.name) return problem(answer, `there is no tool ${call.tool}`);
  const candidate = parseCandidate(call.input);
  const given = candidate === null ? (readValues([call.input])?.candidates ?? []) : [candidate];
  if (given.length === 0) return problem(answer, 'kind and text are needed, and kind must be one of the listed ones');
  return taken(withCandidates(answer, given));
}

function collectSummary(answer: Answer, { input }: ToolCall): Collected {
  const read = typeof input === 'string' ? readText(input).answer : readValues([input]);
  const summary = read?.summary?.trim();
  if (!summary) return problem(answer, 'the summary is missing: give its whole text as "summary"');
  const added = withCandidates(answer, read?.candidates ?? []);
  // If it was given twice, the longer one wins: the other may be its beginning.
  const isFuller = answer.summary === null || answer.summary.length < summary.length;
  return taken(isFuller ? { ...added, summary } : added);
}

function withCandidates(answer: Answer, given: Answer['candidates']): Answer {
  const isKnown = (text: string, kind: string) =>
    answer.candidates.some((known) => known.kind === kind && known.text === text);
  const added = given.filter(({ text, kind }) => !isKnown(text, kind));
  return added.length === 0 ? answer : { ...answer, candidates: [...answer.candidates, ...added] };
}

function taken(answer: Answer): Collected {
  return { answer, receipt: 'Taken.', isTaken: true };
}

function problem(answer: Answer, text: string): Collected {
  const receipt = `Not taken: ${text}.`;
  if (answer.problems.includes(text)) return { answer, receipt, isTaken: false };
  return { answer: { ...answer, problems: [...answer.problems, text] }, receipt, isTaken: false };
}
