import { dropsOldest } from '../config/known.ts';
import { type Entry, textOf } from '../domain/message.ts';
import type { ContextPart, ContextProfile } from '../ports/engine.ts';
import type { ModelMessage } from '../ports/model.ts';
import type { PassageSection, VolatileSection } from '../ports/sections.ts';
import type { ContextSnapshot } from '../ports/store.ts';
import type { Services } from '../services.ts';
import { visibleText } from '../util/text/foreign-text.ts';
import { slide } from './engines/sliding.ts';
import { previewStacked } from './engines/stacked.ts';
import { isPassages } from './fit/passages.ts';
import { estimateText } from './measure/tokens.ts';
import { partsOf } from './view/breakdown.ts';
import { createFixedPrefixBuilder } from './view/fixed-prefix.ts';
import type { Fitted } from './view/view.ts';

/** What a model would see if somebody said this now. */
export interface ContextPreview {
  readonly used: number;
  readonly window: number;
  /** Platform ids of the messages that appear verbatim in the request, in order; `#seq` for messages without one. */
  readonly messages: readonly string[];
  readonly parts: readonly ContextPart[];
}

/** The conversation with one more message of a person. */
export function withQuestion(snapshot: ContextSnapshot, text: string, { now }: { readonly now: number }): Question {
  const { conversation, tail } = snapshot;
  const seq = conversation.nextSeq;
  const newest: Entry = {
    seq,
    externalId: null,
    role: 'user',
    turn: null,
    replyTo: null,
    mentions: [],
    at: now,
    author: { id: 'operator', name: 'operator', kind: 'person' },
    editedAt: null,
    redactedAt: null,
    wantsReply: false,
    parts: [{ kind: 'text', text }],
    tokens: estimateText(text),
  };
  const asked = { ...snapshot, conversation: { ...conversation, nextSeq: seq + 1 }, tail: [...tail, newest] };
  return { snapshot: asked, newest };
}

interface Question {
  readonly snapshot: ContextSnapshot;
  readonly newest: Entry;
}

export interface PreviewRequest extends Question {
  readonly profile: ContextProfile;
  readonly volatile: readonly (VolatileSection | PassageSection)[];
  readonly now: number;
}

/** Read-only: if the gate would free space, this is only simulated. */
export async function previewContext(services: Services, request: PreviewRequest): Promise<ContextPreview> {
  const fitted = await fittedFor(services, request);
  const { used, window } = fitted.measurement;
  return { used, window, messages: wordForWord(fitted, request.newest), parts: partsOf(fitted) };
}

async function fittedFor(services: Services, request: PreviewRequest): Promise<Fitted> {
  const { profile, snapshot, newest, volatile, now } = request;
  const asked = { profile, snapshot, volatile, readUpto: newest.seq, steps: [], now };
  if (!dropsOldest(services.agents.agent(profile.agentId))) return await previewStacked(services, asked);
  return slide(createFixedPrefixBuilder(services), asked, profile.windowTokens);
}

function wordForWord({ request, view }: Fitted, newest: Entry): readonly string[] {
  const sent = flat(view.messages.map(textIn).join('\n'));
  const shown = request.snapshot.tail.filter((entry) => {
    const spoken = flat(textOf(entry.parts));
    return entry.seq !== newest.seq && entry.redactedAt === null && spoken !== '' && sent.includes(spoken);
  });
  const quoted = request.volatile.filter(isPassages).flatMap(({ passages }) => passages);
  const all = [...quoted, ...shown].toSorted((a, b) => a.seq - b.seq);
  return [...new Set(all.map(({ seq, externalId }) => externalId ?? `#${seq}`))];
}

function textIn(message: ModelMessage): string {
  if (message.role === 'assistant') return message.text;
  if (message.role === 'tool') return '';
  return message.content.map((part) => (part.kind === 'text' ? part.text : '')).join('\n');
}

/** A request indents people's lines without changing their words. */
function flat(text: string): string {
  return visibleText(text).replace(/\s+/gu, ' ').trim();
}
