/**
 * What a tool lets the agent's model do in a child conversation.
 *
 * @example
 * const research = defineTool({
 *   name: 'research',
 *   description: 'Reads the handbook and answers one question about it.',
 *   input: z.object({ question: z.string() }),
 *   async run({ question }, { spawn }) {
 *     const task: ChildTask = { task: `Find out: ${question}`, tools: ['handbook'] };
 *     return (await spawn(task)).text;
 *   },
 * });
 */
export interface ChildTask {
  /** All that the model sees of the conversation, unless a tool shows it more, so it must contain what the model needs. */
  readonly task: string;
  /** Tools that it may call, of those that the agent has. Default: all but the one that asks. */
  readonly tools?: readonly string[];
  /** Called with each answer. A text is the next message of the child; null ends it. Default: the first answer ends it. */
  readonly next?: (answer: string) => Promise<string | null> | string | null;
  /** Most tokens of all requests and answers together. Default: ten windows of the model. */
  readonly maxTokens?: number;
  /** Ends the child. It also ends with the tool call. */
  readonly signal?: AbortSignal;
}

/** A type, so that a tool can return it as JSON. */
export type ChildAnswer = {
  /** The last answer. */
  readonly text: string;
  readonly turns: number;
  /** Of all requests and answers, as the provider counts them. */
  readonly tokens: number;
};
