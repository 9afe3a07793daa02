import { byWorth, type TranscriptHit } from '../ranking/transcript-search.ts';

const MIN_CANDIDATE_TOKENS = 4000;
const LABEL_TOKENS = 20;

/** Those that would be quoted first, and several times as many as fit: labelling more takes time and changes nothing. */
export function worthQuoting<Hit extends Pick<TranscriptHit, 'seq' | 'score' | 'tokens'>>(
  hits: readonly Hit[],
  { tokens, shownFrom }: { readonly tokens: number | 'auto'; readonly shownFrom: number },
): readonly Hit[] {
  let left = Math.max(MIN_CANDIDATE_TOKENS, tokens === 'auto' ? 0 : 2 * tokens);
  return byWorth(hits).filter((hit) => {
    // The view shows it in full, whatever else is quoted.
    if (hit.seq >= shownFrom) return true;
    const isOffered = left > 0;
    left -= hit.tokens + LABEL_TOKENS;
    return isOffered;
  });
}
