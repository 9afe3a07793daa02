import type { ModelMessage, ToolCall, ToolResult } from '../../ports/model.ts';

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;

/** The result of a call that has none. */
const NO_RESULT = 'The result of this call is not available.';
/** Starts a conversation whose first visible message is the bot's, because providers expect a person first. */
const GOES_ON: ModelMessage = {
  role: 'user',
  content: [{ kind: 'text', text: '[System: the conversation continues from earlier messages]' }],
};

/**
 * Messages that every provider accepts: each round of calls is followed by exactly its results, call ids are unique and
 * not empty, results without a call are dropped, no text is blank, adjacent messages of the bot are joined, and a
 * person speaks first. Valid messages are returned unchanged.
 */
export function repair(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const out: ModelMessage[] = messages[0]?.role === 'user' ? [] : [GOES_ON];
  const usedIds = new Set<string>();
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index];
    if (message === undefined || message.role === 'tool') continue;
    if (message.role === 'user') {
      out.push(message);
      continue;
    }
    if (message.calls.length === 0) {
      pushText(out, message);
      continue;
    }
    const round = pairUp(message, resultsAfter(messages, index), usedIds);
    if (joinsPrevious(out)) pushJoined(out, round.message);
    else out.push(round.message);
    out.push(round.answer);
  }
  return messages.length === 0 ? messages : out;
}

function pushText(out: ModelMessage[], message: AssistantMessage): void {
  if (message.text.trim() === '') return;
  if (joinsPrevious(out)) pushJoined(out, message);
  else out.push(message);
}

function joinsPrevious(out: readonly ModelMessage[]): boolean {
  return out.at(-1)?.role === 'assistant';
}

function pushJoined(out: ModelMessage[], message: AssistantMessage): void {
  const previous = out.pop();
  const before = previous?.role === 'assistant' ? previous.text : '';
  out.push({ ...message, text: [before, message.text].filter((text) => text.trim() !== '').join('\n\n') });
}

/** All results directly after the message at `index`. */
function resultsAfter(messages: readonly ModelMessage[], index: number): readonly ToolResult[] {
  const results: ToolResult[] = [];
  for (let at = index + 1; messages[at]?.role === 'tool'; at += 1) {
    const message = messages[at];
    if (message?.role === 'tool') results.push(...message.results);
  }
  return results;
}

interface Round {
  readonly message: AssistantMessage;
  readonly answer: ModelMessage;
}

function pairUp(message: AssistantMessage, results: readonly ToolResult[], usedIds: Set<string>): Round {
  const open = [...results];
  const pairs = message.calls.map((call) => {
    const found = open.findIndex((result) => result.callId === call.callId);
    const result = found < 0 ? undefined : open.splice(found, 1)[0];
    return pair(call, result, freshId(call.callId, usedIds));
  });
  return {
    message: { ...message, calls: pairs.map(({ call }) => call) },
    answer: { role: 'tool', results: pairs.map(({ result }) => result) },
  };
}

function pair(call: ToolCall, result: ToolResult | undefined, callId: string) {
  const answer: ToolResult = result ?? { callId, tool: call.tool, text: NO_RESULT, isError: true };
  if (call.callId === callId && answer.callId === callId) return { call, result: answer };
  return { call: { ...call, callId }, result: { ...answer, callId } };
}

function freshId(callId: string, usedIds: Set<string>): string {
  const base = callId === '' ? 'call' : callId;
  let id = base;
  for (let count = 2; usedIds.has(id); count += 1) id = `${base}-${count}`;
  usedIds.add(id);
  return id;
}
