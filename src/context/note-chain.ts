import { type ChainLink, decodeNote, MAX_CHAIN, previousSeq } from '../context/note-codec.ts';
import type { RequestNote } from '../context/request-note.ts';
import type { RequestLog, StoredRequest } from '../ports/journal.ts';

/** A reply with the note of its request. */
export interface NotedReply extends StoredRequest {
  readonly request: RequestNote;
}

/** The newest noted reply up to `toSeq`; null if there is none, or if its note refers to one that is gone. */
export async function readNote(log: RequestLog, conversationId: number, toSeq: number): Promise<NotedReply | null> {
  const rows = new Map<number, StoredRequest>();
  const read = async (upto: number) => {
    const found = await log.notes(conversationId, { toSeq: upto, limit: MAX_CHAIN });
    for (const row of found) rows.set(row.seq, row);
    return found[0] ?? null;
  };
  const reply = await read(toSeq);
  if (reply === null) return null;
  const chain = [reply];
  for (let seq = previousSeq(reply.note, reply.turn); seq !== null; ) {
    if (!rows.has(seq)) await read(seq);
    const before = rows.get(seq);
    if (before === undefined || chain.length > MAX_CHAIN) return null;
    chain.push(before);
    seq = previousSeq(before.note, before.turn);
  }
  let link: ChainLink | null = null;
  for (const { seq, at, note } of chain.toReversed()) link = { seq, ...decodeNote(note, { at }, link) };
  return link === null ? null : { ...reply, request: link.note };
}
