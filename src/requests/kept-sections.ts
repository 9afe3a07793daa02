import { passagesReason } from '../context/fit/passages.ts';
import { type KeptProfile, type KeptPrompt, readKeptSection } from '../context/profile/keep-profile.ts';
import type { RequestNote, SectionRef } from '../context/record/request-note.ts';
import { clockText } from '../context/view/label.ts';
import type { ConversationKey, Entry, MemoryId, SeqRange } from '../domain/message.ts';
import { namesakesSection } from '../memory/people/namesakes.ts';
import { quoteSection } from '../memory/recall/focus.ts';
import { instructionItem, memoryItem, recallReason } from '../memory/recall/recall.ts';
import { canRead } from '../memory/rights/policy.ts';
import type { Memory, MemoryReader, MemoryStore } from '../ports/memory-store.ts';
import type { Passage, PassageSection, SystemSection, VolatileSection } from '../ports/sections.ts';
import type { PromptLibrary, PromptVariables } from '../prompts/variables.ts';
import { passageTextElsewhere } from '../search/passages/place-passages.ts';
import { passageText } from '../search/passages/recall-passages.ts';
import { MINUTE_MS } from '../util/time/time.ts';
import { type Gone, goneText } from './gone.ts';

/** The texts that a request was made of, as far as they are still stored. */
export interface KeptTexts {
  readonly prompts: PromptLibrary;
  readonly profile: KeptProfile;
  /** By hash. */
  readonly parts: ReadonlyMap<string, string>;
  readonly memories: ReadonlyMap<string, Recollection>;
  /** Entries by `#seq`, or `quoteKey` for those of other conversations, as far as they may be shown. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** The messages before the reply; some of them may have been too many for the view. */
  readonly read: readonly Entry[];
}

/** Of a quoted entry. Null for the conversation of the request itself. */
export function quoteKey(conversation: ConversationKey | null, seq: number): string {
  return `${conversation ?? ''}#${seq}`;
}

/** Keys of the entries that a section quotes, in its order. */
export function quotesIn(section: SectionRef): readonly string[] {
  if (section.kind === 'replied-to') return [quoteKey(null, section.seq)];
  if (section.kind !== 'passages') return [];
  const others = section.elsewhere.flatMap(({ conversation, seqs }) => seqs.map((seq) => quoteKey(conversation, seq)));
  return [...others, ...section.seqs.map((seq) => quoteKey(null, seq))];
}

/** A memory as the model saw it, or why it is gone. */
export type Recollection =
  | { readonly memory: Memory; readonly gone: null }
  | { readonly memory: null; readonly gone: Gone };

export function renderKept<Name extends KeptPrompt>(
  { prompts, profile, parts }: KeptTexts,
  name: Name,
  variables: PromptVariables<Name>,
): string {
  return prompts.renderKept(name, variables, parts.get(profile.prompts[name]) ?? '{"text":"","fragments":{}}');
}

/** All memories that the request named. With a reader, only those that it may read. */
export async function recollect(
  store: Pick<MemoryStore, 'find' | 'events'>,
  ids: readonly string[],
  { minute, reader }: { readonly minute: number; readonly reader: MemoryReader | null },
): Promise<ReadonlyMap<string, Recollection>> {
  const found = await Promise.all(
    [...new Set(ids)].map(async (id): Promise<readonly [string, Recollection]> => {
      const memory = await store.find(id as MemoryId);
      if (memory === null) return [id, { memory: null, gone: 'deleted' }];
      if (reader !== null && !canRead(memory, reader)) return [id, { memory: null, gone: 'hidden' }];
      const events = memory.updatedAt >= minute * MINUTE_MS ? await store.events(memory.id) : [];
      const isEdited = events.some(({ kind, at }) => kind === 'edited' && at >= minute * MINUTE_MS);
      return [id, isEdited ? { memory: null, gone: 'edited' } : { memory, gone: null }];
    }),
  );
  return new Map(found);
}

/** The system sections before any cut, in their order. */
export function systemSections(kept: KeptTexts): readonly SystemSection[] {
  return kept.profile.sections.flatMap((hash) => {
    const text = kept.parts.get(hash);
    return text === undefined ? [] : [systemSection(kept, text)];
  });
}

function systemSection(kept: KeptTexts, json: string): SystemSection {
  const { memoryIds, importances, text, originalTokens, ...rest } = readKeptSection(json);
  const section = { ...rest, ...(originalTokens === null ? {} : { originalTokens }) };
  if (text !== null) return { ...section, text };
  const items = memoryIds.map((id) => {
    const { memory, gone } = kept.memories.get(id) ?? LOST;
    return memory === null ? { id, text: goneText(gone), by: '?' } : instructionItem(memory);
  });
  const rendered = renderKept(kept, 'instructions', { items });
  const rows = rendered.split('\n');
  const lines = memoryIds.flatMap((id, index) => {
    const row = rows.find((one) => one.includes(id));
    const importance = importances[index] ?? null;
    return row === undefined || importance === null ? [] : [{ text: row, importance }];
  });
  return { ...section, text: rendered, lines, memoryIds: memoryIds.map((id) => id as MemoryId) };
}

const LOST: Recollection = { memory: null, gone: 'deleted' };

export function sectionMemories(kept: Pick<KeptTexts, 'profile' | 'parts'>): readonly string[] {
  return kept.profile.sections.flatMap((hash) => {
    const text = kept.parts.get(hash);
    return text === undefined ? [] : readKeptSection(text).memoryIds;
  });
}

/** The sections for the newest message. */
export function volatileSections(kept: KeptTexts, note: RequestNote): readonly VolatileSection[] {
  return note.sections.map((section) => volatileSection(kept, note, section));
}

function volatileSection(kept: KeptTexts, note: RequestNote, section: SectionRef): VolatileSection {
  switch (section.kind) {
    case 'clock': {
      const text = renderKept(kept, 'clock', { now: clockText(note.minute * MINUTE_MS, kept.profile.timeZone) });
      return { key: 'clock', text, source: 'prompt clock', reason: 'the current time', memoryIds: [] };
    }
    case 'memories':
      return memoriesSection(kept, section.ids);
    case 'passages':
      return passagesSection(kept, section);
    case 'replied-to': {
      const target = kept.entries.get(quoteKey(null, section.seq));
      return target === undefined ? other('replied-to', 'deleted') : quoteSection(target, kept.profile.timeZone);
    }
    case 'namesakes':
      return namesakesSection(withinRange(kept.read, section)) ?? other('namesakes', 'deleted');
    case 'other':
      return other('other', 'unknown');
    default:
      return section satisfies never;
  }
}

function withinRange(entries: readonly Entry[], { fromSeq, toSeq }: SeqRange): readonly Entry[] {
  return entries.filter(({ seq }) => seq >= fromSeq && seq <= toSeq);
}

function memoriesSection(kept: KeptTexts, ids: readonly MemoryId[]): VolatileSection {
  const items = ids.map((id) => {
    const { memory, gone } = kept.memories.get(id) ?? LOST;
    return memory === null
      ? { id, kind: '?', text: goneText(gone), about: '', date: '?' }
      : memoryItem(memory, kept.profile.timeZone);
  });
  return {
    key: 'memories',
    text: renderKept(kept, 'memories', { items }),
    source: 'memory',
    reason: recallReason(ids.length),
    memoryIds: ids,
  };
}

function passagesSection(kept: KeptTexts, section: Extract<SectionRef, { kind: 'passages' }>): PassageSection {
  const { timeZone } = kept.profile;
  const quoted = (seq: number, from: ConversationKey | null): Passage => {
    const entry = kept.entries.get(quoteKey(from, seq));
    const textOf = from === null ? passageText : passageTextElsewhere;
    const text = entry === undefined ? goneText('deleted') : textOf(entry, timeZone);
    return { seq, externalId: entry?.externalId ?? null, text, ...(from === null ? {} : { from }) };
  };
  const others = section.elsewhere.flatMap(({ conversation, seqs }) => seqs.map((seq) => quoted(seq, conversation)));
  const passages = [...others, ...section.seqs.map((seq) => quoted(seq, null))];
  const reason = passagesReason(passages.length);
  const text = [renderKept(kept, 'passages', {}), ...passages.map((passage) => passage.text)].join('\n');
  return { key: 'passages', text, source: 'transcript', reason, memoryIds: [], passages };
}

function other(key: string, gone: Gone): VolatileSection {
  return { key, text: goneText(gone), source: 'unknown', reason: 'for the newest message', memoryIds: [] };
}
