import { parseJson } from '../wire/parse-json.ts';

const OPENING = '<tool_call>';
const CLOSING = '</tool_call>';
const FUNCTION = '<function=';
const MISTRAL = '[TOOL_CALLS]';
const FENCE = /^```(?:json|tool_call)?\n([^`]*)\n?```$/;

/** Every part of the text that may be a call, read as JSON or in a form that a family of models learns. */
export function callsIn(text: string): readonly unknown[] {
  if (text.startsWith(OPENING))
    return partsOf(text, OPENING).map((block) => readCall(withoutEnd(block, CLOSING) ?? block));
  if (text.startsWith(FUNCTION)) return partsOf(text, FUNCTION).map((block) => readCall(`${FUNCTION}${block}`));
  if (text.startsWith(MISTRAL)) return partsOf(text, MISTRAL).map((block) => mistralCall(block) ?? parseJson(block));
  return [parseJson(FENCE.exec(text)?.[1] ?? text)];
}

function partsOf(text: string, opening: string): readonly string[] {
  return text
    .split(opening)
    .slice(1)
    .map((block) => block.trim());
}

function withoutEnd(text: string, end: string): string | undefined {
  return text.endsWith(end) ? text.slice(0, -end.length).trim() : undefined;
}

function readCall(block: string): unknown {
  return functionCall(block) ?? taggedCall(block) ?? parseJson(block);
}

/** `<function=NAME>{…}</function>` of Llama, with `<parameter=NAME>` of Qwen. */
function functionCall(block: string): unknown {
  const [head, name] = /^<function=([\w.-]{1,64})>/.exec(block) ?? [];
  if (head === undefined) return undefined;
  const body = withoutEnd(block.slice(head.length), '</function>');
  if (body === undefined) return null;
  return { name, arguments: body.startsWith('{') ? parseJson(body) : fieldsIn(body, '<parameter=', parameterOf) };
}

function parameterOf(text: string): readonly [string, string] | null {
  const value = withoutEnd(text, '</parameter>');
  const at = text.indexOf('>');
  return value === undefined || at === -1 ? null : [text.slice(0, at), value.slice(at + 1).trim()];
}

/** `NAME<arg_key>…</arg_key><arg_value>…</arg_value>` of GLM. */
function taggedCall(block: string): unknown {
  const [head, name] = /^([\w.-]{1,64})\s{0,4}(?=<arg_key>)/.exec(block) ?? [];
  return head === undefined ? undefined : { name, arguments: fieldsIn(block.slice(head.length), '<arg_key>', pairOf) };
}

function pairOf(text: string): readonly [string, string] | null {
  const [key = '', rest] = text.split('</arg_key>', 2);
  const value = rest === undefined ? undefined : withoutEnd(rest.trim(), '</arg_value>');
  return value?.startsWith('<arg_value>') ? [key.trim(), value.slice('<arg_value>'.length).trim()] : null;
}

/** `NAME[ARGS]{…}` of Mistral. */
function mistralCall(block: string): unknown {
  const [head, name] = /^([\w.-]{1,64})(?:\[CALL_ID\]\w{1,40})?\[ARGS\]/.exec(block) ?? [];
  return head === undefined ? undefined : { name, arguments: parseJson(block.slice(head.length)) };
}

/** Undefined if a part of the text is not a field. Values are written without a type. */
function fieldsIn(text: string, opening: string, read: (part: string) => readonly [string, string] | null): unknown {
  const parts = partsOf(text, opening).map(read);
  if (text !== '' && !text.startsWith(opening)) return null;
  if (parts.some((part) => part === null)) return null;
  return Object.fromEntries(parts.flatMap((part) => (part === null ? [] : [[part[0], parseJson(part[1]) ?? part[1]]])));
}
