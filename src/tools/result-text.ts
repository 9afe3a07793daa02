import { describe, StrataError } from '../domain/errors.ts';
import type { Tool, ToolOutput } from './define.ts';

/**
 * What the model reads. Without a result, it reads that the tool ran. Throws `TOOL_RESULT_INVALID` for what is no JSON,
 * and for an object that JSON shows as empty: the model would take that for an empty answer, and the author would never
 * learn of it.
 */
export function resultText({ name }: Pick<Tool, 'name'>, result: ToolOutput): string {
  if (typeof result === 'string') return result.toWellFormed();
  const invalid = (problem: string) => new StrataError('TOOL_RESULT_INVALID', { tool: name, problem });
  const json = jsonOf(result, invalid);
  const lost = json.includes(EMPTY) ? lostIn(result) : null;
  if (lost === null) return json;
  throw invalid(`${lost} is neither text nor JSON`);
}

const EMPTY = '{}';

function jsonOf(result: ToolOutput, invalid: (problem: string) => StrataError): string {
  try {
    // Programs in JavaScript may return a function, which JSON leaves out.
    const json: string | undefined = JSON.stringify(result);
    return json ?? 'Done.';
  } catch (error) {
    throw invalid(describe(error));
  }
}

/** The kind of the first such object, for example a promise without `await`. What became JSON contains no circle. */
function lostIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return null;
  const items: readonly unknown[] = Object.values(value);
  if (items.length > 0) return items.map(lostIn).find((lost) => lost !== null) ?? null;
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return ['Object', 'Array'].includes(kind) ? null : kind;
}
