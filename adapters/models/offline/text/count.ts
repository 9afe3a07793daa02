import type { ModelMessage, ModelRequest } from '../../../../src/adapter-kit.ts';

/** Tokens around every message and tool, besides the text. */
const MESSAGE_TOKENS = 4;

/**
 * The size of a request by this model's own rule: four ASCII characters per token, one token for any other character.
 */
export function countRequest({ system, messages, tools }: ModelRequest): number {
  const texts = [
    ...system.map((block) => block.text),
    ...messages.map(textOfMessage),
    ...tools.map(({ name, description, inputSchema }) => `${name} ${description} ${JSON.stringify(inputSchema)}`),
  ];
  return texts.reduce((sum, text) => sum + countText(text) + MESSAGE_TOKENS, 0);
}

export function countText(text: string): number {
  const plain = text.match(/[\p{ASCII}]/gu)?.length ?? 0;
  return Math.ceil(plain / 4) + ([...text].length - plain);
}

function textOfMessage(message: ModelMessage): string {
  switch (message.role) {
    case 'user':
      return message.content.map((part) => (part.kind === 'text' ? part.text : '[image]')).join('\n');
    case 'assistant':
      return [message.text, ...message.calls.map(({ tool, input }) => `${tool} ${JSON.stringify(input)}`)].join('\n');
    case 'tool':
      return message.results.map(({ tool, text }) => `${tool} ${text}`).join('\n');
    default:
      return message satisfies never;
  }
}
