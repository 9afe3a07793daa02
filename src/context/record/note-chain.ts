import type { RequestLog, StoredRequest } from '../../ports/journal.ts';
import { type ChainLink, decodeNote, MAX_CHAIN, previousSeq } from './note-codec.ts';
import type { RequestNote } from './request-note.ts';

/** A reply with the note of its request. */
export interface NotedReply extends StoredRequest {
  readonly request: RequestNote;
}

interface LinkedReply {
  readonly reply: StoredRequest;
  readonly link: ChainLink;
}

/** The newest noted reply up to `toSeq`; null if there is none, or if its note refers to one that is gone. */
export async function readNote(log: RequestLog, conversationId: number, toSeq: number): Promise<NotedReply | null> {
  const found = await readLink(log, conversationId, toSeq);
  return found === null ? null : { ...found.reply, request: found.link.note };
}

/** Like `readNote`, with what the next note may refer to. */
export async function readLink(log: RequestLog, conversationId: number, toSeq: number): Promise<LinkedReply | null> {
  const rows = new Map<number, StoredRequest>();
  const read = async (upto: number, limit: number) => {
    const found = await log.notes(conversationId, { toSeq: upto, limit });
    for (const row of found) rows.set(row.seq, row);
    return found[0] ?? null;
  };
  const reply = await read(toSeq, 1);
  if (reply === null) return null;
  const chain = [reply];
  for (let seq = previousSeq(reply.note, reply.turn); seq !== null; ) {
    if (!rows.has(seq)) await read(seq, MAX_CHAIN);
    const before = rows.get(seq);
    if (before === undefined || chain.length > MAX_CHAIN) return null;
    chain.push(before);
    seq = previousSeq(before.note, before.turn);
  }
  let link: ChainLink | null = null;
  for (const { seq, at, note } of chain.toReversed()) link = { seq, ...decodeNote(note, { at }, link) };
  return link === null ? null : { reply, link };
}

export interface NoteRange {
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Maximum number of replies, the newest ones. */
  readonly limit: number;
}

/** The noted replies of a range, oldest first, without those whose notes refer to one that is gone. */
export async function readNotes(
  log: RequestLog,
  conversationId: number,
  { fromSeq, toSeq, limit }: NoteRange,
): Promise<readonly NotedReply[]> {
  const found = await log.notes(conversationId, { fromSeq, toSeq, limit: limit + MAX_CHAIN });
  const oldest = found.at(-1);
  if (oldest === undefined) return [];
  const isWhole = previousSeq(oldest.note, oldest.turn) === null || found.length === limit + MAX_CHAIN;
  const before = isWhole ? [] : await log.notes(conversationId, { toSeq: oldest.seq - 1, limit: MAX_CHAIN });
  const links = new Map<number, ChainLink>();
  for (const { seq, turn, at, note } of [...found, ...before].toReversed()) {
    const baseSeq = previousSeq(note, turn);
    const base = baseSeq === null ? null : links.get(baseSeq);
    if (base !== undefined) links.set(seq, { seq, ...decodeNote(note, { at }, base) });
  }
  return found
    .slice(0, limit)
    .toReversed()
    .flatMap((reply) => {
      const link = links.get(reply.seq);
      return link === undefined ? [] : [{ ...reply, request: link.note }];
    });
}
