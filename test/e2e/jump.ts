export const FILLER = 'It has been there for a while and nobody came to fetch it, so it waits. ';
export const LONG = FILLER.repeat(27).trim();
const FILLER_TOKENS = 18;

/** Whether a compaction makes room before a jump is a matter of milliseconds. */
const MAX_JUMPS = 20;

interface Jumping {
  readonly windowTokens: number;
  /** How full the window is. */
  share(): Promise<number>;
  /** Says it and waits for the answer. */
  talk(text: string): Promise<unknown>;
  /** Waits until there are more runs than that; rejects after a while. */
  ranMore(before: number): Promise<unknown>;
  /** How many compactions have run, all of them or those of one trigger. */
  runs(trigger?: string): number;
}

/** One message that jumps over the second threshold and not over the third: two would be judged one by one. */
export async function jump({ windowTokens, share, talk, ranMore, runs }: Jumping): Promise<void> {
  for (let attempt = 0; attempt < MAX_JUMPS; attempt += 1) {
    const missing = 0.87 + 0.02 * (attempt % 4) - (await share());
    const before = runs();
    await talk(FILLER.repeat(Math.max(1, Math.round((missing * windowTokens) / FILLER_TOKENS))));
    // A compaction that was under way may have made room just before.
    await ranMore(before).catch(() => undefined);
    if (runs('aggressive') > 0) return;
  }
  throw new Error('No message was followed by an aggressive compaction.');
}
