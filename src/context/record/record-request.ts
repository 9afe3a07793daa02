import { hash } from 'node:crypto';
import { describe } from '../../domain/errors.ts';
import type { BlobId } from '../../domain/message.ts';
import type { NewBlob } from '../../ports/blob-store.ts';
import type { ModelMessage, ModelRequest } from '../../ports/model.ts';
import type { Passage, PassageSection, VolatileSection } from '../../ports/sections.ts';
import type { TurnCommit } from '../../ports/store.ts';
import { promptSourceOf } from '../../prompts/variables.ts';
import type { Services } from '../../services.ts';
import { createRecentMap } from '../../util/recent-map.ts';
import { isPassages } from '../fit/passages.ts';
import { keepProfile, type ProfileParts } from '../profile/keep-profile.ts';
import { entryMessageOf } from '../view/entry-message.ts';
import { openedSeq } from '../view/opened.ts';
import { type Fitted, nearbySeq, type ViewRequest } from '../view/view.ts';
import { readLink } from './note-chain.ts';
import { type ChainLink, encodeNote, minuteOf, type NotePlace } from './note-codec.ts';
import { changeText } from './request-change.ts';
import type { LayerRef, RequestNote, SectionRef } from './request-note.ts';
import { wholePrint } from './request-print.ts';

/** What a finished turn knows about its last request. */
export interface SentRequest extends NotePlace {
  readonly fitted: Fitted;
  readonly sent: Pick<ModelRequest, 'system' | 'messages' | 'tools'>;
  /** When the sections for the newest message were made. */
  readonly preparedAt: number;
  readonly model: string | null;
  readonly isAltered: boolean;
}

export interface RecordedRequest {
  readonly record: NonNullable<TurnCommit['record']>;
  /** What hooks changed in the request. */
  readonly blobs: readonly NewBlob[];
  /** Called once the reply is stored, with its seq. */
  readonly committed: (seq: number) => void;
}

/** Notes what the requests of this process were built from, each as the difference from the one before it. */
export interface RequestRecorder {
  record(sent: SentRequest): Promise<RecordedRequest>;
}

/** Conversations whose last note is remembered. That of another one is read. */
const MAX_REMEMBERED = 500;

export function createRequestRecorder(
  services: Pick<Services, 'store' | 'prompts' | 'agents' | 'log'>,
): RequestRecorder {
  const links = createRecentMap<number, ChainLink>(MAX_REMEMBERED);
  const kept = new WeakMap<ViewRequest['profile'], ProfileParts>();
  const partsOf = ({ request: { profile, snapshot } }: Fitted): ProfileParts => {
    const known = kept.get(profile);
    if (known !== undefined) return known;
    const agent = services.agents.agent(profile.agentId) ?? services.agents.agentFor(snapshot.conversation.key);
    const from = promptSourceOf(agent);
    const made = keepProfile(profile, { prompts: services.prompts, agent, from });
    kept.set(profile, made);
    return made;
  };
  return {
    async record(sent) {
      const { id } = sent.fitted.request.snapshot.conversation;
      const previous = links.get(id) ?? (await lastLink(services, id));
      const { hash: profile, parts } = partsOf(sent.fitted);
      const isKept = sent.isAltered && sent.fitted.request.steps.every(isRebuilt);
      const change = isKept ? changeOf(sent) : null;
      const { text, link } = encodeNote({ ...noteOf(sent, profile), change: change?.id ?? null }, sent, previous);
      const isKnown = previous?.note.profile === profile;
      return {
        record: { note: text, parts: isKnown ? [] : parts },
        blobs: change === null ? [] : [change],
        committed(seq) {
          links.set(id, { ...link, seq });
        },
      };
    },
  };
}

/** The last note of an earlier process, so that what it named is not named again. A note can do without it. */
async function lastLink({ store, log }: Pick<Services, 'store' | 'log'>, conversationId: number) {
  try {
    return (await readLink(store.journal.requests, conversationId, Number.MAX_SAFE_INTEGER))?.link ?? null;
  } catch (error) {
    log.warn('request.unread', { conversationId, error: describe(error) });
    return null;
  }
}

/**
 * A hook may repeat what people said, so its change is kept like a long tool result: for as long, and until something
 * that it repeats is forgotten.
 */
function changeOf({ fitted, sent }: SentRequest): NewBlob | null {
  const text = changeText(fitted.view, sent);
  if (text === null) return null;
  const { id: conversationId } = fitted.request.snapshot.conversation;
  const id = hash('sha256', `${conversationId} ${text}`, 'base64url').slice(0, CHANGE_LENGTH) as BlobId;
  return { id, text };
}

const CHANGE_LENGTH = 22;

function noteOf(
  { fitted, sent, preparedAt, model, isAltered }: SentRequest,
  profile: string,
): Omit<RequestNote, 'change'> {
  const { request, view, reduction } = fitted;
  const { snapshot, volatile, steps } = request;
  const included = new Set(view.volatileKeys);
  return {
    profile,
    print: wholePrint(sent),
    budgetTokens: view.prefix.budgetTokens,
    revision: snapshot.conversation.revision,
    layers: snapshot.stack.map(
      (item): LayerRef =>
        item.kind === 'gap'
          ? { kind: 'gap', fromSeq: item.fromSeq, toSeq: item.toSeq }
          : { kind: 'summary', id: item.id },
    ),
    fromSeq: snapshot.tail[0]?.seq ?? snapshot.conversation.nextSeq,
    omitted: snapshot.omitted.entries,
    // The sections below are those that were included.
    reduction: { ...reduction, volatileTokens: Number.POSITIVE_INFINITY },
    sections: volatile.filter(({ key }) => included.has(key)).map(sectionRef),
    minute: minuteOf(preparedAt),
    links: linksIn(fitted),
    steps: steps.filter(isStored).length,
    opened: steps.flatMap((step, at) => {
      const seq = openedSeq(step);
      return seq === null ? [] : [{ at, seq }];
    }),
    model,
    isAltered: isAltered || !steps.every(isRebuilt),
  };
}

/** Images that a tool opened belong to the request, but not to the transcript. */
function isStored({ role }: ModelMessage): boolean {
  return role !== 'user';
}

function isRebuilt(step: ModelMessage): boolean {
  return isStored(step) || openedSeq(step) !== null;
}

function sectionRef(section: VolatileSection): SectionRef {
  if (isPassages(section)) return passagesRef(section);
  switch (section.key) {
    case 'clock':
      return { kind: 'clock' };
    case 'memories':
      return { kind: 'memories', ids: section.memoryIds };
    case 'replied-to':
      return { kind: 'replied-to', seq: seqsIn(section)[0] ?? 0 };
    case 'namesakes':
      return { kind: 'namesakes', fromSeq: seqsIn(section)[0] ?? 0, toSeq: seqsIn(section)[1] ?? 0 };
    default:
      return { kind: 'other' };
  }
}

function seqsIn({ source }: VolatileSection): readonly number[] {
  return (source.match(/(?<=#)\d+/g) ?? []).map(Number);
}

/** In the order of `fitPassages`: other conversations first, each by seq. */
function passagesRef({ passages }: PassageSection): SectionRef {
  const byConversation = Map.groupBy(passages, ({ from }) => from ?? null);
  const seqsOf = (some: readonly Passage[] = []) => some.map(({ seq }) => seq).toSorted((a, b) => a - b);
  const elsewhere = [...byConversation].flatMap(([conversation, some]) =>
    conversation === null ? [] : [{ conversation, seqs: seqsOf(some) }],
  );
  return { kind: 'passages', seqs: seqsOf(byConversation.get(null)), elsewhere };
}

/**
 * A rendered message keeps its label while it stays in memory, so the note records the label's target instead of
 * looking it up later.
 */
function linksIn({ request, reduction }: Fitted): ReadonlyMap<number, number> {
  const { snapshot, readUpto } = request;
  const { timeZone } = request.profile;
  const replySeq = request.replySeq ?? nearbySeq(snapshot.tail);
  const ask = snapshot.tail.findLast(({ role, seq }) => role === 'user' && seq <= readUpto);
  const links = new Map<number, number>();
  for (const entry of snapshot.tail) {
    if (entry.replyTo === null || entry.role !== 'user' || entry.seq > readUpto) continue;
    const textTokens = entry === ask ? reduction.askTokens : reduction.textTokens;
    const isCached = !Number.isFinite(textTokens);
    const found = isCached
      ? entryMessageOf(entry, { stubBytes: null, textTokens, replySeq, timeZone }).replySeq
      : replySeq(entry);
    if (found !== null) links.set(entry.seq, found);
  }
  return links;
}
