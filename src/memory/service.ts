import { StrataError } from '../domain/errors.ts';
import { type Author, type ConversationKey, type MemoryId, textOf } from '../domain/message.ts';
import {
  MEMORY_STATES,
  type Memory,
  type MemoryChange,
  type MemoryEvent,
  type MemoryEventKind,
  type MemoryList,
  type MemoryReader,
  type MemoryState,
} from '../ports/memory-store.ts';
import type { HeldDecision, HeldSentence, WithheldMemory } from '../ports/provenance-store.ts';
import type { Services } from '../services.ts';
import { inParallel } from '../util/async/in-parallel.ts';
import { createLanes } from '../util/async/lanes.ts';
import { allAfter } from '../util/async/pages.ts';
import { DAY_MS } from '../util/time/time.ts';
import { type Addition, type AddResult, addMemory } from './admission/add.ts';
import { rewording } from './admission/rewording.ts';
import type { PersonExport } from './export.ts';
import type { ForgetPreview } from './forget/forget.ts';
import type { ForgetServices, ForgetTarget, TokenedPreview } from './forget/forget-target.ts';
import { assertMayRaise } from './rights/own-wording.ts';
import { assertManages, assertMayChange, assertMayWord, type Requester } from './rights/permissions.ts';
import { assertReadable, canRead, isOpenBeside } from './rights/policy.ts';
import { withheldAbout } from './rights/withheld.ts';
import { isFaded, RAISING, type Transition, transition } from './statements/lifecycle.ts';

/** What people can do with memories, with all permissions checked. Commands, the CLI and tools use it. */
export interface Memories {
  /** Saves what a person asks to remember by command. */
  add(addition: Addition): Promise<AddResult>;
  /** One readable memory. Throws `NOT_FOUND` or `ACCESS_DENIED`. */
  find(id: string, reader: MemoryReader): Promise<Memory>;
  /** Readable memories, without faded ones that were never recalled or are long out of use. */
  list(query: MemoryList): Promise<readonly Memory[]>;
  /** Memories about the person in places that cannot be read from here, without their text. */
  withheld(personId: string, reader: MemoryReader): Promise<readonly WithheldMemory[]>;
  /** Readable memories that match, best first. */
  search(query: {
    readonly reader: MemoryReader;
    readonly text: string;
    readonly limit: number;
    readonly states?: readonly MemoryState[];
  }): Promise<readonly Memory[]>;
  /** Its sources and history. */
  why(id: string, reader: MemoryReader): Promise<Origin>;
  edit(id: string, change: { readonly text: string }, by: Requester): Promise<Memory>;
  pin(id: string, pinned: boolean, by: Requester): Promise<Memory>;
  /**
   * `promote` approves, `reject` is final, `demote` suspends it until it is confirmed again, `restore` undoes a
   * supersession.
   */
  move(id: string, step: Transition, by: Requester): Promise<Memory>;
  /** What forgetting would remove, for a confirmation. Checks permissions. */
  previewForget(target: ForgetTarget, by: Requester): Promise<TokenedPreview>;
  /** Deletes permanently, from every layer. */
  forget(preview: ForgetPreview): Promise<Forgotten>;
  /** Held sentences of this place, for those who manage it. */
  held(by: Requester): Promise<readonly HeldSentence[]>;
  /** Restores a held sentence to its message, or deletes it. Throws `NOT_FOUND` or `COMMAND_FORBIDDEN`. */
  decideHeld(id: string, kind: HeldDecision['kind'], by: Requester): Promise<HeldSentence>;
  /**
   * Members get the memories about themselves; moderators and operators may name somebody. The history of each memory
   * records the export.
   */
  exportFor(personId: string, by: Requester): Promise<PersonExport>;
}

export interface Forgotten {
  readonly memoryIds: readonly MemoryId[];
  /** Messages whose text was deleted with them. */
  readonly messages: number;
  /** Sentences of others that are held until somebody decides, or that were deleted. */
  readonly sentences: number;
  /** Why deleted text remains in the store's files, and until when; null if it does not. */
  readonly remains: string | null;
}

export interface Origin {
  readonly memory: Memory;
  readonly sources: readonly OriginMessage[];
  readonly events: readonly MemoryEvent[];
  /** The statement that replaced it. */
  readonly replacedBy: Memory | null;
}

/** A message that a memory comes from. */
export interface OriginMessage {
  readonly conversation: ConversationKey;
  readonly seq: number;
  readonly externalId: string | null;
  /** `conversation#seq`, which identifies the message in every listing. */
  readonly link: string;
  readonly author: Author | null;
  readonly at: number | null;
  /** Null if the message was deleted. */
  readonly text: string | null;
}

export type MemoryServices = Pick<Services, 'state' | 'events' | 'hooks'> & ForgetServices;

/** Short rows, which are sorted again for each page. */
const HELD_PAGE = 5000;

export function createMemories(services: MemoryServices): Memories {
  const { store } = services;
  /** Prepares one request to forget per person at a time, so that nobody can delay those of others for long. */
  const asking = createLanes();
  const find = (id: string, reader: MemoryReader) => findReadable(services, id, reader);
  const alter = (id: string, alteration: Alteration) => alterMemory(services, id, alteration);
  return {
    add: (addition) => addMemory(services, addition),
    find,
    list: async (query) => {
      const now = services.clock.now();
      return (await store.memories.list(query)).filter((memory) => !isFaded(memory, now));
    },
    withheld: (personId, reader) => withheldAbout(services, personId, reader),
    search: (query) => searchMemories(services, query),
    why: (id, reader) => originOf(services, id, reader),
    async edit(id, { text }, by) {
      const memory = await find(id, by.reader);
      assertMayWord(memory, by, 'edit');
      const reworded = await rewording(services, memory, { text, by });
      return await alter(id, { by, kind: 'edited', change: () => reworded, detail: { changed: ['text'] } });
    },
    async pin(id, pinned, by) {
      assertMayWord(await find(id, by.reader), by, 'pin');
      return await alter(id, { by, kind: 'pinned', change: () => ({ pinned }), detail: { pinned } });
    },
    async move(id, step, by) {
      const action = RAISING[step];
      if (action !== undefined) await assertMayRaise(store.memories, await find(id, by.reader), { by, action });
      return await alter(id, {
        by,
        kind: step === 'promote' ? 'promoted' : step === 'reject' ? 'rejected' : 'edited',
        // A replaced memory ended with its replacement; restored, it is valid again.
        change: (memory) => ({
          state: stateAfter(memory, step),
          ...(step === 'restore' ? { validUntil: null, supersededBy: null } : {}),
        }),
        detail: { transition: step },
      });
    },
    previewForget: (target, by) => asking.run([by.author.id], () => preview(services, target, by)),
    forget: ({ plan, later }) =>
      forget(services, { plan, later: (readings) => asking.run([plan.actor], () => later(readings)) }),
    held: (by) => listHeld(services, by),
    decideHeld: (id, kind, by) => decideHeld(services, { id, kind, by }),
    async exportFor(personId, by) {
      if (by.rights === 'member' && personId !== by.author.id) {
        throw new StrataError('COMMAND_FORBIDDEN', {
          command: 'memory export',
          needs: 'the person whose data it is, moderators and operators',
        });
      }
      return await asking.run([by.author.id], () => exportFor(services, personId, by));
    },
  };
}

/** A copy contains the events, so one for each copy would make each longer than the one before. */
const EXPORTED_AGAIN_MS = DAY_MS;
/** They share a transaction, and the wait for the disk. */
const NOTED_AT_ONCE = 32;

async function exportFor(services: MemoryServices, personId: string, by: Requester): Promise<PersonExport> {
  const { exportPerson } = await import('./export.ts');
  const copy = await exportPerson(services, { personId, by });
  const event = { kind: 'exported', at: services.clock.now(), actor: by.author.id, detail: null } as const;
  const isNoted = ({ kind, at, actor }: MemoryEvent) =>
    kind === event.kind && actor === event.actor && event.at - at < EXPORTED_AGAIN_MS;
  const unnoted = copy.memories.filter(({ events }) => !events.some(isNoted));
  await inParallel(unnoted, NOTED_AT_ONCE, ({ id }) => services.store.memories.change(id, {}, event));
  return copy;
}

async function findReadable({ store }: MemoryServices, id: string, reader: MemoryReader): Promise<Memory> {
  const memory = await store.memories.find(id as MemoryId);
  if (memory === null) throw new StrataError('NOT_FOUND', { what: 'memory', id });
  assertReadable(memory, reader);
  return memory;
}

async function preview(services: MemoryServices, target: ForgetTarget, by: Requester): Promise<TokenedPreview> {
  const { previewForget } = await import('./forget/forget-target.ts');
  return await previewForget(services, target, by);
}

async function forget(
  { store, provenance, events }: MemoryServices,
  { plan, later }: Pick<ForgetPreview, 'plan' | 'later'>,
): Promise<Forgotten> {
  const { memoryIds, redactions, sentences, asker } = plan;
  const messages = redactions.reduce((sum, { seqs }) => sum + seqs.length, 0);
  const forgotten = { memoryIds, messages, sentences: sentences.length };
  const isEmpty = memoryIds.length + messages + sentences.length === 0;
  if (isEmpty && asker === undefined) return { ...forgotten, remains: null };
  const readings = await provenance.readings(memoryIds);
  let { remains } = await store.memories.forget(plan);
  const repeated = isEmpty ? null : await later(readings);
  if (repeated !== null) ({ remains } = await store.memories.forget(repeated));
  const ids = [...memoryIds, ...(repeated?.memoryIds ?? [])];
  if (!isEmpty) events.emit({ kind: 'memory.forgotten', conversation: null, ids });
  return { ...forgotten, remains };
}

async function listHeld({ provenance }: MemoryServices, by: Requester): Promise<readonly HeldSentence[]> {
  assertManages(by);
  return await allAfter<HeldSentence>(HELD_PAGE, (page) => provenance.held({ place: by.reader.place, ...page }));
}

async function decideHeld(
  { provenance, clock }: MemoryServices,
  { id, kind, by }: { readonly id: string; readonly kind: HeldDecision['kind']; readonly by: Requester },
): Promise<HeldSentence> {
  assertManages(by);
  const decided = await provenance.decide({ id, place: by.reader.place, kind, now: clock.now() });
  if (decided === null) throw new StrataError('NOT_FOUND', { what: 'hidden sentence', id });
  return decided;
}

async function searchMemories(
  { store, search }: MemoryServices,
  query: Parameters<Memories['search']>[0],
): Promise<readonly Memory[]> {
  const { reader, limit, states = MEMORY_STATES } = query;
  const ids = (await search.memories({ ...query, states })).map((hit) => hit.id);
  if (ids.length === 0) return [];
  const found = await store.memories.list({ reader, states, ids, limit, offset: 0 });
  return found.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
}

async function originOf(services: MemoryServices, id: string, reader: MemoryReader): Promise<Origin> {
  const memory = await findReadable(services, id, reader);
  const { store } = services;
  const sources: OriginMessage[] = [];
  for (const { conversationId, conversation, seq, externalId } of memory.sources) {
    if (!(await mayReadSource(store, { conversationId, seq }, reader))) continue;
    const [entry] = await store.transcript.pick(conversationId, [seq]);
    const isGone = entry === undefined || entry.redactedAt !== null;
    const said = { author: entry?.author ?? null, at: entry?.at ?? null, text: isGone ? null : textOf(entry.parts) };
    sources.push({ conversation, seq, externalId, link: `${conversation}#${seq}`, ...said });
  }
  const successor = memory.supersededBy === null ? null : await store.memories.find(memory.supersededBy);
  const replacedBy = successor !== null && canRead(successor, reader) ? successor : null;
  return { memory, sources, events: await store.memories.events(memory.id), replacedBy };
}

async function mayReadSource(
  { conversations }: Pick<MemoryServices['store'], 'conversations'>,
  { conversationId, seq }: Pick<Memory['sources'][number], 'conversationId' | 'seq'>,
  reader: MemoryReader,
): Promise<boolean> {
  const conversation = await conversations.get(conversationId);
  return conversation === null || isOpenBeside(seq, conversation, reader);
}

interface Alteration {
  readonly by: Requester;
  readonly kind: MemoryEventKind;
  readonly change: (memory: Memory) => MemoryChange;
  readonly detail: MemoryEvent['detail'];
}

async function alterMemory(services: MemoryServices, id: string, alteration: Alteration): Promise<Memory> {
  const { by, kind, detail } = alteration;
  const memory = await findReadable(services, id, by.reader);
  assertMayChange(memory, by);
  const event = { kind, at: services.clock.now(), actor: by.author.id, detail };
  await services.store.memories.change(memory.id, alteration.change(memory), event);
  return findReadable(services, id, by.reader);
}

const POSSIBLE: Readonly<Record<Transition, string>> = {
  promote: 'a candidate can be approved',
  demote: 'an active memory can be disabled',
  supersede: 'a candidate or an active memory can be replaced',
  reject: 'a memory that is not rejected yet can be rejected',
  restore: 'a replaced memory can be restored',
};

/** Throws `USAGE` for an impossible transition. */
function stateAfter({ id, state }: Memory, step: Transition): MemoryState {
  const next = transition(state, step);
  if (next === null)
    throw new StrataError('USAGE', {
      problem: `The memory ${id} is ${state}. Only ${POSSIBLE[step]}.`,
    });
  return next;
}
