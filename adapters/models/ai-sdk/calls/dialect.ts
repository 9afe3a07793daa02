import type { Thoughts } from './thoughts.ts';

/** Provider-specific differences that the SDK leaves to the caller. */
export interface Dialect {
  /** The provider option for explicit cache breakpoints; null if the provider finds prefixes itself. */
  readonly cache: 'anthropic' | 'openaiCompatible' | null;
  /**
   * System blocks are cached for an hour, because they rarely change. Messages are not: each of them is written once, at
   * a higher price.
   */
  readonly keepsSystem: boolean;
  /** Chat templates of local models often reject a second system message, and consecutive messages of one role. */
  readonly mergesRoles: boolean;
  /** Without this, OpenAI makes every optional field of a tool required. */
  readonly laxTools: boolean;
  /** The server may have no parser for calls, so that they arrive as text. */
  readonly writesCalls: boolean;
  /** How reasoning goes back with its calls: as parts of the message, or in the fields in which the server sent it. */
  readonly reasoning: 'parts' | 'fields';
  /** Of a model that has not answered yet. */
  readonly thoughts: Thoughts;
}

export const plain: Dialect = {
  cache: null,
  keepsSystem: false,
  mergesRoles: false,
  laxTools: false,
  writesCalls: false,
  reasoning: 'parts',
  thoughts: 'apart',
};
export const compatible: Dialect = {
  ...plain,
  mergesRoles: true,
  writesCalls: true,
  reasoning: 'fields',
  thoughts: 'marked',
};
