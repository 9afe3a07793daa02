import type { RequestBlock } from './blocks.ts';

export interface BlockChange {
  readonly change: 'added' | 'removed' | 'changed';
  /** As it is now; for a removed one, as it was. */
  readonly block: RequestBlock;
  /** Before the change; null for an added block. */
  readonly before: RequestBlock | null;
}

export interface RequestDiff {
  readonly changes: readonly BlockChange[];
  /** Estimated tokens of unchanged blocks before the first change. */
  readonly sharedTokens: number;
  readonly keptBlocks: number;
}

/** How a request differs from an earlier one, in the order of the request; removed blocks come last. */
export function diffRequests(before: readonly RequestBlock[], after: readonly RequestBlock[]): RequestDiff {
  const known = new Map(before.map((block) => [block.key, block]));
  const changes: BlockChange[] = [];
  for (const block of after) {
    const earlier = known.get(block.key);
    known.delete(block.key);
    if (earlier === undefined) changes.push({ change: 'added', block, before: null });
    else if (earlier.text !== block.text) changes.push({ change: 'changed', block, before: earlier });
  }
  const keptBlocks = after.length - changes.length;
  for (const block of known.values()) changes.push({ change: 'removed', block, before: block });
  return { changes, sharedTokens: sharedTokens(before, after), keptBlocks };
}

function sharedTokens(before: readonly RequestBlock[], after: readonly RequestBlock[]): number {
  let sum = 0;
  for (const [index, block] of after.entries()) {
    const earlier = before[index];
    if (earlier?.key !== block.key || earlier.text !== block.text) break;
    sum += block.tokens;
  }
  return sum;
}
