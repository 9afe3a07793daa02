import type { Entry } from '../../domain/message.ts';
import type { TranscriptStore } from '../../ports/store.ts';
import { hasLine } from './transcript-line.ts';

const PAGE = 200;
/** Entries read beyond what fits, so that a turn that ends slightly later is included completely. */
const MARGIN = 1.5;

export interface HeadRequest {
  readonly conversationId: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Approximate number of tokens wanted. */
  readonly tokens: number;
  readonly timeZone: string;
}

/**
 * The first entries of the range, slightly more than requested, or all of them. Never ends between a call and its
 * results.
 */
export async function readHead(
  transcript: Pick<TranscriptStore, 'read'>,
  request: HeadRequest,
): Promise<readonly Entry[]> {
  const { conversationId, toSeq, tokens } = request;
  const entries: Entry[] = [];
  let sum = 0;
  let fromSeq = request.fromSeq;
  while (fromSeq <= toSeq && sum <= tokens * MARGIN) {
    const page = await transcript.read(conversationId, { fromSeq, toSeq, limit: PAGE });
    if (page.length === 0) return entries;
    entries.push(...page);
    // The lines are rendered page by page: rendering all at once would delay replies.
    sum += page.reduce((total, entry) => total + (hasLine(entry, request.timeZone) ? entry.tokens : 0), 0);
    fromSeq = (page.at(-1)?.seq ?? toSeq) + 1;
  }
  return fromSeq > toSeq ? entries : withoutOpenGroup(entries);
}

/** The next entries are unknown: the last entry may be a call whose results follow. */
function withoutOpenGroup(entries: readonly Entry[]): readonly Entry[] {
  const end = entries.findLastIndex((entry) => entry.role !== 'tool');
  return end > 0 ? entries.slice(0, end) : entries;
}
