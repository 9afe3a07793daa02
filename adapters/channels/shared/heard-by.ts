import type { HeardBy } from '../../../src/adapter-kit.ts';

/** What a place says of its readers, without the rest of it. */
export function heardBy({ audience, isAudienceAssumed = false }: HeardBy): HeardBy {
  return isAudienceAssumed ? { audience, isAudienceAssumed } : { audience };
}
