import { estimateText } from '../../context/measure/tokens.ts';
import { labelOf } from '../../context/view/label.ts';
import { placeOf } from '../../domain/key.ts';
import { type Entry, isAtLeastAsTight, textOf } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { underLabel } from '../../util/text/foreign-text.ts';
import { rankTranscript, type TranscriptHit } from '../ranking/transcript-search.ts';

/** The conversations of the place with the newest messages. */
const MAX_CONVERSATIONS = 8;
/** Entries that the index proposes in each of them. */
const PROPOSED = 40;
const MAX_OFFERED = 10;

type Place = Pick<Conversation, 'key' | 'audience'>;
type Captured = Pick<Conversation, 'key' | 'audience' | 'audienceFrom' | 'tightestAudience' | 'contextFrom'>;

/**
 * The first entry of a conversation that the readers of another one in the same place can read anyway; null if there is
 * none. The same rule applies as for memories: an entry stays readable only while the place has no wider audience than it had then.
 */
export function readableFrom(other: Captured, reader: Place): number | null {
  if (placeOf(other.key) !== placeOf(reader.key) || other.key === reader.key) return null;
  if (isAtLeastAsTight(reader.audience, other.tightestAudience)) return other.contextFrom;
  if (!isAtLeastAsTight(reader.audience, other.audience)) return null;
  return Math.max(other.contextFrom, other.audienceFrom);
}

export interface PlaceQuestion {
  readonly conversation: Conversation;
  readonly question: string;
  readonly minGrounding: number;
  readonly timeZone: string;
}

/** Messages in the other conversations of the place that help to answer, each with its author and time. */
export async function passagesOfPlace(services: Pick<Services, 'store' | 'search'>, asked: PlaceQuestion) {
  const { conversation: own } = asked;
  const scope = { place: placeOf(own.key) };
  const page = { order: 'heard', scope, limit: MAX_CONVERSATIONS + 1, after: null } as const;
  const all = await services.store.conversations.list(page);
  const others = all.filter(({ id }) => id !== own.id).slice(0, MAX_CONVERSATIONS);
  const found = await Promise.all(others.map((other) => passagesIn(services, other, asked)));
  return found.flat();
}

async function passagesIn(
  services: Pick<Services, 'store' | 'search'>,
  other: Conversation,
  { conversation, question, minGrounding, timeZone }: PlaceQuestion,
) {
  const fromSeq = readableFrom(other, conversation);
  if (fromSeq === null || fromSeq >= other.nextSeq) return [];
  const range = { conversationId: other.id, question, fromSeq, toSeq: other.nextSeq - 1, proposed: PROPOSED };
  const { hits, grounding } = await rankTranscript(services, range);
  if (grounding < minGrounding) return [];
  return hits.slice(0, MAX_OFFERED).flatMap((hit) => quotedFrom(other, hit, timeZone));
}

/** A message of another conversation as it is quoted. Its number would name the wrong message here. */
export function passageTextElsewhere(entry: Entry, timeZone: string): string {
  const label = labelOf(entry, null, timeZone).replace(/^\[#\d+/u, '[elsewhere in this channel');
  return underLabel(label, textOf(entry.parts));
}

/** Only what people said. */
function quotedFrom({ id, key, revision }: Conversation, { seq, score, entry }: TranscriptHit, timeZone: string) {
  const spoken = textOf(entry.parts);
  if (entry.role !== 'user' || spoken.trim() === '') return [];
  const text = passageTextElsewhere(entry, timeZone);
  return [
    { seq, externalId: entry.externalId, from: key, of: { id, revision }, score, text, tokens: estimateText(text) },
  ];
}
