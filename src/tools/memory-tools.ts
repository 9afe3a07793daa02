import { z } from 'zod';
import { modelsOf } from '../config/directory.ts';
import { StrataError } from '../domain/errors.ts';
import type { Entry } from '../domain/message.ts';
import { candidateSchema, MIN_CANDIDATES } from '../memory/admission/candidate.ts';
import { groundingOf, readSources } from '../memory/admission/grounding.ts';
import { aboutOf } from '../memory/recall/recall.ts';
import { readerFor } from '../memory/rights/policy.ts';
import type { Memories } from '../memory/service.ts';
import type { Memory, MemoryWrite } from '../ports/memory-store.ts';
import type { Services } from '../services.ts';
import { createRecentMap } from '../util/recent-map.ts';
import { localDate } from '../util/time/local-time.ts';
import { defineTool, type Tool, type ToolContext } from './define.ts';

/** Number of messages before the newest one that a statement may cite. */
const SOURCES = 30;
/** Maximum memories that one turn may save, as many as one extraction. */
const MAX_SAVED = MIN_CANDIDATES;
const MAX_FOUND_SOURCES = 3;
const MAX_COUNTED = 1000;
const MAX_RECALLED = 10;
const NOBODY: readonly string[] = [];

type MemoryToolServices = Pick<
  Services,
  'store' | 'search' | 'state' | 'random' | 'clock' | 'events' | 'agents' | 'hooks'
>;

export function createMemoryTools(services: MemoryToolServices, memories: Memories): readonly Tool[] {
  return [createSave(services), createRecall(services, memories)];
}

function createSave(services: MemoryToolServices): Tool {
  const saved = createTurnCount();
  return defineTool({
    name: 'memory_save',
    description: 'Saves one statement of a person that will matter later. Not for small talk, guesses or known facts.',
    input: candidateSchema.pick({ kind: true, text: true, about: true, sources: true }),
    async run(candidate, context) {
      if (!saved.take(context)) return { saved: false, reason: `one turn can save at most ${MAX_SAVED} memories` };
      const request = await admissionRequestOf(services, context);
      const sources =
        candidate.sources.length > 0 ? candidate.sources : await sourcesFor(candidate.text, request.entries);
      const { admitCandidates } = await import('../memory/admission/admission.ts');
      const { writes, refused } = await admitCandidates(services, {
        ...request,
        candidates: [{ ...candidate, sources, importance: null, supersedes: null }],
      });
      if (writes.length === 0) return { saved: false, reason: refused[0]?.reason ?? 'it is known already' };
      const actor = `agent:${context.agentId}`;
      const { conversationId, replyEpoch } = context;
      const claimed = replyEpoch === undefined ? {} : { replyEpoch };
      const save = { conversationId, ...claimed, writes, actor, now: services.clock.now() };
      const ids = (await services.store.memories.save(save)).filter((id) => id !== null);
      if (ids.length === 0) return { saved: false, reason: 'it was forgotten here, or is already known' };
      services.events.emit({ kind: 'memory.saved', conversation: context.conversation, ids });
      return { saved: true, id: ids[0] ?? null, state: stateAfter(writes[0]) };
    },
  });
}

/** The messages that say it, and the newest one, which may have asked to save it. */
async function sourcesFor(text: string, entries: readonly Entry[]): Promise<number[]> {
  const people = entries.filter((entry) => entry.role === 'user' && entry.redactedAt === null);
  await readSources(people, NOBODY);
  const newest = people.at(-1);
  const saying = people.filter(
    (entry) => groundingOf(text, { sources: [entry], subjectName: '', names: NOBODY }).strength === 'said',
  );
  return [...new Set([...saying.slice(-MAX_FOUND_SOURCES), ...(newest === undefined ? [] : [newest])])].map(
    ({ seq }) => seq,
  );
}

/** Counts per running turn; a conversation has one at a time. */
function createTurnCount() {
  const counts = createRecentMap<number, { readonly readUpto: number; readonly count: number }>(MAX_COUNTED);
  return {
    /** False if the turn has used up its limit. */
    take({ conversationId, readUpto }: ToolContext): boolean {
      const known = counts.get(conversationId);
      const count = known?.readUpto === readUpto ? known.count : 0;
      if (count >= MAX_SAVED) return false;
      counts.set(conversationId, { readUpto, count: count + 1 });
      return true;
    },
  };
}

async function admissionRequestOf(services: MemoryToolServices, context: ToolContext) {
  const { conversationId, readUpto } = context;
  const conversation = await services.store.conversations.get(conversationId);
  if (conversation === null) throw new StrataError('CONVERSATION_UNKNOWN', { key: context.conversation });
  const agent = agentOf(services, context);
  const fromSeq = Math.max(1, readUpto - SOURCES);
  const entries = await services.store.transcript.read(conversationId, {
    fromSeq,
    toSeq: readUpto,
    limit: SOURCES + 1,
  });
  return {
    conversation: { ...conversation, audience: context.audience },
    agent,
    entries,
    model: modelsOf(agent)[0],
    promptHash: '',
    extractedUpto: fromSeq - 1,
  };
}

function stateAfter(write: MemoryWrite | undefined): string {
  if (write === undefined || write.kind === 'corroborate') return write?.promote ? 'active' : 'confirmed';
  return write.memory.state;
}

function createRecall(services: MemoryToolServices, memories: Memories): Tool {
  return defineTool({
    name: 'memory_recall',
    description: 'Searches the memories of this place.',
    input: z.object({
      query: z.string().min(1).describe('Names and key words'),
    }),
    async run({ query }, context) {
      const place = { key: context.conversation, audience: context.audience };
      const agent = agentOf(services, context);
      const reader = readerFor(place, agent);
      const found = await memories.search({ reader, text: query, limit: MAX_RECALLED, states: ['active'] });
      const ids = found.map((memory) => memory.id);
      context.onGiven?.(ids);
      if (ids.length > 0) {
        const by = { conversationId: context.conversationId, now: services.clock.now() };
        await services.store.memories.recalled(ids, by);
      }
      return { found: found.length, memories: found.map((memory) => itemOf(memory, agent.timezone)) };
    },
  });
}

function agentOf({ agents }: Pick<Services, 'agents'>, { agentId, conversation }: ToolContext) {
  return agents.agent(agentId) ?? agents.agentFor(conversation);
}

function itemOf(memory: Memory, timeZone: string) {
  const { id, kind, text, validFrom, trust } = memory;
  return { id, kind, text, about: aboutOf(memory), saidOn: localDate(validFrom, timeZone), trust };
}
