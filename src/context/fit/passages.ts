import type { ContextProfile } from '../../ports/engine.ts';
import type { Passage, PassageSection, VolatileSection } from '../../ports/sections.ts';
import { estimateText } from '../measure/tokens.ts';

/** With fewer tokens, a heading and one message say too little. */
const MIN_ROOM_TOKENS = 40;

export function isPassages(section: VolatileSection): section is PassageSection {
  return 'passages' in section;
}

interface Room {
  readonly profile: Pick<ContextProfile, 'recallTokens'>;
  /** The other sections for the newest message. */
  readonly others: readonly VolatileSection[];
  /** Estimated tokens left in the request. */
  readonly freeTokens: number;
  /** The first entry that the view shows itself; earlier ones may be quoted. */
  readonly firstSeq: number;
}

/** The best passages that fit, in their original order. Null if none fits. */
export function fitPassages(section: PassageSection, room: Room): PassageSection | null {
  const memories = room.others.filter(({ memoryIds }) => memoryIds.length > 0);
  const taken = memories.reduce((sum, { text }) => sum + estimateText(text), 0);
  const budget = Math.min(room.profile.recallTokens - taken, room.freeTokens) - estimateText(section.text);
  if (budget < MIN_ROOM_TOKENS) return null;
  let left = budget;
  const chosen = section.passages.filter((passage) => {
    const tokens = tokensOf(passage);
    if (isShown(passage, room.firstSeq) || tokens > left) return false;
    left -= tokens;
    return true;
  });
  if (chosen.length === 0) return null;
  const lines = inOrder(chosen).map(({ text }) => text);
  return {
    ...section,
    reason: passagesReason(lines.length),
    text: [section.text, ...lines].join('\n'),
    passages: chosen,
  };
}

/** Why quoted messages are in a request. */
export function passagesReason(count: number): string {
  return `${count} earlier ${count === 1 ? 'message relates' : 'messages relate'} to the newest message`;
}

/** What all of them would take that a view from this message on does not show. */
export function passageTokens({ text, passages }: PassageSection, firstSeq: number): number {
  const quoted = passages.filter((passage) => !isShown(passage, firstSeq));
  return quoted.length === 0 ? 0 : quoted.reduce((sum, passage) => sum + tokensOf(passage), estimateText(text));
}

function isShown({ from, seq }: Passage, firstSeq: number): boolean {
  return from === undefined && seq >= firstSeq;
}

/** The tokens of a passage and of the line break before it. */
function tokensOf({ text }: Passage): number {
  return estimateText(text) + 1;
}

/** The passages of other conversations first, each conversation in its own order. */
function inOrder(passages: readonly Passage[]): readonly Passage[] {
  const byConversation = Map.groupBy(passages, ({ from }) => from ?? '');
  const own = byConversation.get('') ?? [];
  byConversation.delete('');
  return [...byConversation.values(), own].flatMap((same) => same.toSorted((a, b) => a.seq - b.seq));
}
