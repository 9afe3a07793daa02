import { ModelError } from '../domain/errors.ts';
import type { ChatModel, FinishReason, ModelRequest, ModelUsage, ToolCall } from '../ports/model.ts';

/** What one model call gave, whole. */
export interface Step {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly finish: FinishReason;
  readonly usage: ModelUsage;
}

/** Calls the model once and gathers its stream. A stream that ends without a `finish` is a failure, not an answer. */
export async function collectStep(
  model: ChatModel,
  request: ModelRequest,
  options: { readonly signal: AbortSignal; readonly onText: (textSoFar: string) => void },
): Promise<Step> {
  let text = '';
  const calls: ToolCall[] = [];
  let end: { finish: FinishReason; usage: ModelUsage } | null = null;
  for await (const part of model.stream(request, { signal: options.signal })) {
    switch (part.kind) {
      case 'text':
        text += part.text;
        options.onText(text);
        break;
      case 'call':
        calls.push(part.call);
        break;
      case 'finish':
        end = { finish: part.reason, usage: part.usage };
        break;
      default:
        part satisfies never;
    }
  }
  if (end === null) throw new ModelError({ model: model.id, reason: 'transient', detail: 'the answer broke off' });
  return { text, calls, ...end };
}
