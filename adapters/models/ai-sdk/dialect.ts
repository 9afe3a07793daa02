/** How one provider wants a request written, where the SDK leaves it to us. */
export interface Dialect {
  /** Under which name explicit cache breakpoints are passed; null where the provider finds prefixes by itself. */
  readonly cache: 'anthropic' | 'openaiCompatible' | null;
  /** Chat templates of local models often refuse a second system message, and two messages of one role in a row. */
  readonly mergesRoles: boolean;
  /** Left out, OpenAI makes every optional field of a tool required. */
  readonly laxTools: boolean;
}

export const plain: Dialect = { cache: null, mergesRoles: false, laxTools: false };
export const compatible: Dialect = { ...plain, mergesRoles: true };
