import { StrataError } from '../domain/errors.ts';
import { type Author, type ConversationKey, type MemoryId, textOf } from '../domain/message.ts';
import {
  type ForgetPlan,
  MEMORY_STATES,
  type Memory,
  type MemoryChange,
  type MemoryEvent,
  type MemoryKind,
  type MemoryList,
  type MemoryReader,
  type MemoryState,
} from '../ports/memory-store.ts';
import type { Services } from '../services.ts';
import { type Addition, type AddResult, addMemory, assertNobodyPaused, statementOf, stateOf } from './add.ts';
import { exportPerson, type PersonExport } from './export.ts';
import { fingerprintOf } from './fingerprint.ts';
import { planForget } from './forget.ts';
import { isFaded, type Transition, transition } from './lifecycle.ts';
import { isOrder } from './orders.ts';
import { assertMayChange, type Requester } from './permissions.ts';
import { assertReadable } from './policy.ts';

/** What people may do with memories, with every right checked. Commands, CLI and tools go through here. */
export interface Memories {
  /** A person's own wish to remember something, by command. */
  add(addition: Addition): Promise<AddResult>;
  /** One readable memory. Throws `NOT_FOUND` or `ACCESS_DENIED`. */
  find(id: string, reader: MemoryReader): Promise<Memory>;
  /** Readable ones without those that faded: never taken up, and long out of use. */
  list(query: MemoryList): Promise<readonly Memory[]>;
  /** Readable ones that match, the best first. */
  search(query: {
    readonly reader: MemoryReader;
    readonly text: string;
    readonly limit: number;
    readonly states?: readonly MemoryState[];
  }): Promise<readonly Memory[]>;
  /** Where it comes from and what became of it. */
  why(id: string, reader: MemoryReader): Promise<Origin>;
  edit(
    id: string,
    change: { readonly text?: string; readonly kind?: MemoryKind; readonly importance?: number },
    by: Requester,
  ): Promise<Memory>;
  pin(id: string, pinned: boolean, by: Requester): Promise<Memory>;
  /** `promote` approves, `reject` is final, `demote` takes out of use until it is confirmed again, `restore` undoes a supersession. */
  move(id: string, step: Transition, by: Requester): Promise<Memory>;
  /** What forgetting would remove: for a confirmation. Checks the rights. */
  planForget(target: ForgetTarget, by: Requester): Promise<ForgetPlan>;
  /** Gone for good, from every layer. */
  forget(target: ForgetTarget, by: Requester): Promise<Forgotten>;
  /** Members get what is about themselves; moderators and operators may name somebody. Each memory's history tells of it. */
  exportFor(personId: string, by: Requester): Promise<PersonExport>;
}

export type ForgetTarget =
  | { readonly kind: 'memory'; readonly id: string }
  /** Every readable memory whose words match the text. */
  | { readonly kind: 'text'; readonly text: string }
  /** Everything about a person within reach. */
  | { readonly kind: 'person'; readonly personId: string };

export interface Forgotten {
  readonly memoryIds: readonly MemoryId[];
  /** Messages whose text was deleted with them. */
  readonly messages: number;
}

export interface Origin {
  readonly memory: Memory;
  readonly sources: readonly OriginMessage[];
  readonly events: readonly MemoryEvent[];
  /** The statement that took its place. */
  readonly replacedBy: Memory | null;
}

export interface OriginMessage {
  readonly conversation: ConversationKey;
  readonly seq: number;
  readonly externalId: string | null;
  /** `conversation#seq`: finds the message in every listing. */
  readonly link: string;
  readonly author: Author | null;
  readonly at: number | null;
  /** Null when the message was deleted. */
  readonly text: string | null;
}

type MemoryServices = Pick<Services, 'store' | 'state' | 'search' | 'random' | 'clock' | 'events'>;

/** A match far below the best is not what a person means by "forget that". */
const FORGET_SHARE = 0.6;
const PAGE = 1000;

export function createMemories(services: MemoryServices): Memories {
  const { store } = services;
  const find = (id: string, reader: MemoryReader) => findReadable(services, id, reader);
  const alter = (id: string, alteration: Alteration) => alterMemory(services, id, alteration);
  return {
    add: (addition) => addMemory(services, addition),
    find,
    list: async (query) => {
      const now = services.clock.now();
      return (await store.memories.list(query)).filter((memory) => !isFaded(memory, now));
    },
    search: (query) => searchMemories(services, query),
    why: (id, reader) => originOf(services, id, reader),
    edit: async (id, change, by) => {
      const text = change.text === undefined ? null : statementOf(change.text);
      if (text !== null) await assertNobodyPaused(services, { text, subjectId: null, subjectName: null }, by);
      return alter(id, {
        by,
        kind: 'edited',
        change: (memory) => ({ ...change, ...(text === null ? {} : rewordedBy(memory, { ...change, text, by })) }),
        detail: { changed: Object.keys(change) },
      });
    },
    pin: (id, pinned, by) => alter(id, { by, kind: 'pinned', change: () => ({ pinned }), detail: { pinned } }),
    move: (id, step, by) =>
      alter(id, {
        by,
        kind: step === 'promote' ? 'promoted' : step === 'reject' ? 'rejected' : 'edited',
        // What was replaced ended with its replacement: taken up again, it holds as before.
        change: (memory) => ({
          state: stateAfter(memory, step),
          ...(step === 'restore' ? { validUntil: null, supersededBy: null } : {}),
        }),
        detail: { transition: step },
      }),
    planForget: (target, by) => planFor(services, target, by),
    async forget(target, by) {
      const plan = await planFor(services, target, by);
      if (plan.memoryIds.length === 0) return { memoryIds: [], messages: 0 };
      await store.memories.forget(plan);
      services.events.emit({ kind: 'memory.forgotten', conversation: null, ids: plan.memoryIds });
      return { memoryIds: plan.memoryIds, messages: plan.redactions.reduce((sum, { seqs }) => sum + seqs.length, 0) };
    },
    async exportFor(personId, by) {
      if (by.rights === 'member' && personId !== by.author.id) {
        throw new StrataError('COMMAND_FORBIDDEN', {
          command: 'memory export',
          needs: 'the person themself, moderators and operators',
        });
      }
      const copy = await exportPerson(services, { personId, reader: by.reader });
      const event = { kind: 'exported', at: services.clock.now(), actor: by.author.id, detail: null } as const;
      for (const { id } of copy.memories) await store.memories.change(id, {}, event);
      return copy;
    },
  };
}

async function findReadable({ store }: MemoryServices, id: string, reader: MemoryReader): Promise<Memory> {
  const memory = await store.memories.find(id as MemoryId);
  if (memory === null) throw new StrataError('NOT_FOUND', { what: 'memory', id });
  assertReadable(memory, reader);
  return memory;
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
    const [entry] = await store.transcript.pick(conversationId, [seq]);
    const isGone = entry === undefined || entry.redactedAt !== null;
    const said = { author: entry?.author ?? null, at: entry?.at ?? null, text: isGone ? null : textOf(entry.parts) };
    sources.push({ conversation, seq, externalId, link: `${conversation}#${seq}`, ...said });
  }
  const replacedBy = memory.supersededBy === null ? null : await store.memories.find(memory.supersededBy);
  return { memory, sources, events: await store.memories.events(memory.id), replacedBy };
}

/** Who words a statement vouches for it: an order becomes an instruction, with the rights that giving one takes. */
function rewordedBy(
  memory: Memory,
  { text, kind = memory.kind, by }: { readonly text: string; readonly kind?: MemoryKind; readonly by: Requester },
): MemoryChange {
  const trust = by.rights === 'operator' ? 'operator' : memory.subjectId === by.author.id ? 'self' : 'other';
  const reworded = { text, fingerprint: fingerprintOf(text), trust } as const;
  if (!isOrder(text) || kind === 'instruction') return reworded;
  return {
    ...reworded,
    kind: 'instruction',
    state: memory.state === 'active' ? stateOf('instruction', trust, by) : memory.state,
  };
}

interface Alteration {
  readonly by: Requester;
  readonly kind: MemoryEvent['kind'];
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
  demote: 'an active memory can be taken out of use',
  supersede: 'a candidate or an active memory can be replaced',
  reject: 'what is not rejected yet can be rejected',
  restore: 'a replaced memory can be taken up again',
};

/** Throws `USAGE` for a step that the table does not know. */
function stateAfter({ id, state }: Memory, step: Transition): MemoryState {
  const next = transition(state, step);
  if (next === null)
    throw new StrataError('USAGE', {
      problem: `The memory ${id} is ${state}. Only ${POSSIBLE[step]}.`,
    });
  return next;
}

async function planFor(services: MemoryServices, target: ForgetTarget, by: Requester): Promise<ForgetPlan> {
  const memories = await targeted(services, target, by);
  for (const memory of memories) assertMayChange(memory, by);
  return planForget(services, { memories, reader: by.reader, actor: by.author.id });
}

async function targeted(services: MemoryServices, target: ForgetTarget, by: Requester): Promise<readonly Memory[]> {
  const { reader } = by;
  switch (target.kind) {
    case 'memory':
      return [await findReadable(services, target.id, reader)];
    case 'person':
      return everythingAbout(services, target.personId, reader);
    case 'text':
      return matching(services, target.text, by);
    default:
      return target satisfies never;
  }
}

/** However much it is: what is to be forgotten must not stop at a page's end. */
async function everythingAbout(
  { store }: MemoryServices,
  subjectId: string,
  reader: MemoryReader,
): Promise<readonly Memory[]> {
  const found: Memory[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.memories.list({ reader, subjectId, states: MEMORY_STATES, limit: PAGE, offset });
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}

/** Those that say it: the best match, and what is about as good. */
async function matching(services: MemoryServices, text: string, { reader }: Requester): Promise<readonly Memory[]> {
  const hits = await services.search.memories({ reader, text, states: MEMORY_STATES, limit: 20 });
  const best = hits[0]?.score ?? 0;
  const ids = hits.filter((hit) => hit.score >= best * FORGET_SHARE).map((hit) => hit.id);
  if (ids.length === 0) return [];
  return services.store.memories.list({ reader, ids, states: MEMORY_STATES, limit: ids.length, offset: 0 });
}
