import type { HeardBy } from '../../../src/adapter-kit.ts';

/** The audience of a place. */
export function heardBy({ audience, isAudienceAssumed = false }: HeardBy): HeardBy {
  return isAudienceAssumed ? { audience, isAudienceAssumed } : { audience };
}
